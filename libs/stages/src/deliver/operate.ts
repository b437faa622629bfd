import type { Delivery } from '@carillon/domain/deliveries';
import { CarillonError, type Result } from '@carillon/kernel';
import type { OutcomePorts } from './outcomes.ts';
import { transitionAndPublish } from './transition.ts';

/** Tries of a compare-and-set before the operator gets `conflict`. */
const TRIES = 20;

/**
 * Moves a delivery as an operator decided, based on its newest document, and publishes the outcome. If the log is
 * unavailable, the sweeper publishes it later and `untold` gets the reason. Throws CarillonError `wrong_state` if the
 * decision no longer fits, `conflict` if the document kept changing, and all errors of `find`. A decision of null
 * changes nothing.
 */
export async function decideOnDelivery(
  find: () => Promise<Delivery>,
  decision: (newest: Delivery) => Result<Delivery | null, string>,
  ports: OutcomePorts & { readonly untold: (error: unknown) => void },
): Promise<Delivery> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const newest = await find();
    const next = decision(newest);
    if (!next.ok) throw new CarillonError('wrong_state', next.error);
    if (next.value === null) return newest;
    const moved = await transitionAndPublish(next.value, ports);
    if (!moved) continue;
    await moved.published.catch(ports.untold);
    return moved.delivery;
  }
  throw new CarillonError('conflict', 'the delivery changed several times meanwhile; try again');
}
