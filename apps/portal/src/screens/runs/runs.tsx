import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { usePages } from '../../api/page-list.ts';
import { Empty } from '../../ui/answers.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { ListScreen, type Columns } from '../../ui/list-screen.tsx';
import { Time } from '../../ui/time.tsx';
import { loadRuns, RUNS, type Run } from './queries.ts';
import { countsText, notificationsText, stateText } from './run-text.ts';

const FROM = '/workspaces/$w/runs';

const keyOf = ({ id }: Run): string => id;
const COLUMNS: Columns<Run> = {
  what: stateText,
  who: notificationsText,
  about: countsText,
  time: ({ created_at: at }) => <Time at={at} ago />,
};

/** Comparisons of a workspace, newest first. Each opens a page of its own. */
export function Runs(): ReactNode {
  const { w } = useParams({ from: FROM });
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
      open={null}
      onOpen={(id) => void navigate({ to: '/workspaces/$w/runs/$id', params: { w, id } })}
      panelLabel="Comparison"
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
