import { describeHeldDeliveries } from '@carillon/testing';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedMongo } from './open-mongo.ts';

describeWith('mongodb', 'held deliveries in MongoDB', () => {
  const mongoWith = sharedMongo();
  describeHeldDeliveries(
    'the MongoDB ledger',
    mongoWith(({ ledger }) => ledger),
  );
});
