import { describeEventLog } from '@carillon/testing';
import { describe } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { runningKafka } from './running-kafka.ts';

describeWith('kafka', 'the log on Kafka', () => {
  describe.each(['4.3.1', '3.9.2'] as const)('%s', (version) => {
    const running = runningKafka({ version });
    describeEventLog(`Kafka ${version}`, () => running().underTest());
  });
});
