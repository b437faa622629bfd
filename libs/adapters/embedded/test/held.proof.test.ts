import { describeHeldDeliveries } from '@carillon/testing';
import { sharedEmbedded } from './open-embedded.ts';

const embeddedWith = sharedEmbedded();
describeHeldDeliveries(
  'the embedded ledger',
  embeddedWith(({ ledger }) => ledger),
);
