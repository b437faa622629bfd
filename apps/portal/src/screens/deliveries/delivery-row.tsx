import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import styles from './deliveries.module.css';
import type { Delivery } from './queries.ts';
import { reasonWords } from './reason-words.ts';

function row(delivery: Delivery, namesWorkspace: boolean): ReactNode {
  const about = [
    namesWorkspace ? delivery.workspace : null,
    delivery.test ? `test of ${delivery.notification}` : delivery.rule,
    delivery.duplicate_of === null ? reasonWords(delivery.reason) : 'duplicate',
  ];
  return (
    <span className={cls(styles.row)}>
      <span className={cls(styles.state)}>
        <State state={delivery.state} />
      </span>
      <bdi className={cls(styles.to)}>{delivery.to ?? '(no address)'}</bdi>
      <span className={cls(styles.about)}>{about.filter((word) => word !== null).join(' · ')}</span>
      <span className={cls(styles.time)}>
        <Time at={delivery.updated_at} ago />
      </span>
    </span>
  );
}

/** A row in a list of one workspace. */
export const deliveryRow = (delivery: Delivery): ReactNode => row(delivery, false);
/** A row in a list of several: it names its own. */
export const deliveryRowOfAll = (delivery: Delivery): ReactNode => row(delivery, true);
