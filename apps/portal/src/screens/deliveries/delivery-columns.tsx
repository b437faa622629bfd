import type { Columns } from '../../ui/list-screen.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { Delivery } from './queries.ts';

const columns = (namesWorkspace: boolean): Columns<Delivery> => ({
  what: ({ state, state_words: words }) => <State state={state} words={words} />,
  who: ({ to }) => to ?? '(no address)',
  about: (delivery) =>
    [
      namesWorkspace ? delivery.workspace : null,
      delivery.test ? `test of ${delivery.notification}` : delivery.rule,
      delivery.reason_words,
    ]
      .filter((word) => word !== null)
      .join(' · '),
  time: ({ updated_at: at }) => <Time at={at} ago />,
});

/** Columns for a single workspace. */
export const COLUMNS = columns(false);
/** Of a list of several workspaces: each row names its own. */
export const COLUMNS_OF_ALL = columns(true);
