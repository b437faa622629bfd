import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { usePages } from '../../api/page-list.ts';
import { Empty, Loading } from '../../ui/answers.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { ListScreen, type Columns } from '../../ui/list-screen.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Time } from '../../ui/time.tsx';
import { loadRuns, RUNS, type Run } from './queries.ts';
import { countsText, notificationsText, stateText } from './run-text.ts';

const FROM = '/workspaces/$w/runs';

const RunPanel = lazyPart(() => import('./run-panel.tsx').then(({ RunPanel: loaded }) => loaded));

const keyOf = ({ id }: Run): string => id;
const COLUMNS: Columns<Run> = {
  what: stateText,
  who: notificationsText,
  about: countsText,
  time: ({ created_at: at }) => <Time at={at} ago />,
};

/** Comparisons of a workspace, newest first, and the messages of the one that is open. */
export function Runs(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, ...filter } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const load = useMemo(() => loadRuns(w), [w]);
  const list = usePages([RUNS, w, 'list'], load);
  return (
    <ListScreen
      title="Comparisons"
      lead="Edits that were compared with what was published, over past events. Each is deleted after 30 days."
      what="comparisons"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      open={open ?? null}
      onOpen={(id) => void navigate({ search: { open: id }, replace: true })}
      onClose={() => void navigate({ search: {}, replace: true })}
      panelLabel="Comparison"
      renderPanel={({ key: id, onClose }) => (
        <Part loading={<Loading what="the comparison" />}>
          <RunPanel
            key={id}
            workspace={w}
            id={id}
            filter={filter}
            onFilter={(next) => void navigate({ search: { open: id, ...next }, replace: true })}
            onClose={onClose}
          />
        </Part>
      )}
      renderEmpty={() => (
        <Empty
          title="Nothing was compared yet"
          action={
            <Link to="/workspaces/$w/drafts" params={{ w }} className={buttonClass()}>
              Review and publish
            </Link>
          }
        >
          Before drafts are published, they can be compared with what is published: who would have been notified over
          the last 30 days, and who not.
        </Empty>
      )}
    />
  );
}
