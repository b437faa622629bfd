import type { Delivery } from '@carillon/domain/deliveries';
import { CarillonError, type Result } from '@carillon/kernel';
import type { OutcomePorts } from './outcomes.ts';
import { transitionAndPublish } from './transition.ts';

/** A compare-and-set that loses this often is told to the operator, who tries again. */
const TRIES = 20;

/**
 * Moves a delivery as an operator decided, on its newest document, and tells of it on the log. What is not told, because the
 * log cannot be reached, is left to the sweeper, and `untold` hears why.
 *
 * Throws CarillonError `wrong_state` where the decision does not fit the delivery any more, `conflict` where others kept
 * changing it, and whatever `find` throws. A decision of null leaves it as it is.
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
  throw new CarillonError('conflict', 'it changed several times meanwhile; try again');
}
