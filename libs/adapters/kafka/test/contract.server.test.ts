import { describeEventLog } from '@carillon/testing';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedKafka } from './running-kafka.ts';

/** The oldest version that is supported: oldest-kafka.proof.test.ts. */
describeWith('kafka', 'the log on Kafka', () => {
  const running = sharedKafka();
  describeEventLog('Kafka', () => running().underTest());
});
