import type { Columns } from '../../ui/list-screen.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { Delivery } from './queries.ts';
import { reasonWords } from './reason-words.ts';

const columns = (namesWorkspace: boolean): Columns<Delivery> => ({
  what: ({ state }) => <State state={state} />,
  who: ({ to }) => to ?? '(no address)',
  about: (delivery) =>
    [
      namesWorkspace ? delivery.workspace : null,
      delivery.test ? `test of ${delivery.notification}` : delivery.rule,
      delivery.duplicate_of === null ? reasonWords(delivery.reason) : 'duplicate',
    ]
      .filter((word) => word !== null)
      .join(' · '),
  time: ({ updated_at: at }) => <Time at={at} ago />,
});

/** Of a list of one workspace. */
export const COLUMNS = columns(false);
/** Of a list of several workspaces: each row names its own. */
export const COLUMNS_OF_ALL = columns(true);
