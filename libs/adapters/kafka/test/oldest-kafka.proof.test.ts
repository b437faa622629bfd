import { describeEventLog } from '@carillon/testing';
import { describeWith } from '../../../../test/support/requirements.ts';
import { runningKafka } from './running-kafka.ts';

describeWith('kafka', 'the log on the oldest Kafka that is supported', () => {
  const running = runningKafka({ version: '3.9.2' });
  describeEventLog('Kafka 3.9.2', () => running().underTest());
});
