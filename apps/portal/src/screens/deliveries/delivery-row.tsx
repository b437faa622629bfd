import type { ReactNode } from 'react';
import { RowCells } from '../../ui/row-cells.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { Delivery } from './queries.ts';
import { reasonWords } from './reason-words.ts';

function row(delivery: Delivery, namesWorkspace: boolean): ReactNode {
  const about = [
    namesWorkspace ? delivery.workspace : null,
    delivery.test ? `test of ${delivery.notification}` : delivery.rule,
    delivery.duplicate_of === null ? reasonWords(delivery.reason) : 'duplicate',
  ];
  return (
    <RowCells
      what={<State state={delivery.state} />}
      who={delivery.to ?? '(no address)'}
      about={about.filter((word) => word !== null).join(' · ')}
      time={<Time at={delivery.updated_at} ago />}
    />
  );
}

/** A row in a list of one workspace. */
export const deliveryRow = (delivery: Delivery): ReactNode => row(delivery, false);
/** A row in a list of several: it names its own. */
export const deliveryRowOfAll = (delivery: Delivery): ReactNode => row(delivery, true);
