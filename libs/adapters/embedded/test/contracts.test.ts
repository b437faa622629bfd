import { describeEventLog } from '@carillon/testing';
import { embeddedWith } from './open-embedded.ts';

describeEventLog(
  'the embedded log',
  embeddedWith(({ log }) => log),
);
