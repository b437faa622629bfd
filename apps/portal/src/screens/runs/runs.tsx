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
      lead="Comparisons of drafts with the published configuration, over past events. Carillon deletes each after 30 days."
      what="comparisons"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      open={null}
      onOpen={(id) => void navigate({ to: '/workspaces/$w/runs/$id', params: { w, id } })}
      panelLabel="Comparison"
      renderEmpty={() => (
        <Empty
          title="No comparisons yet"
          action={
            <Link to="/workspaces/$w/drafts" params={{ w }} className={buttonClass()}>
              Review and publish
            </Link>
          }
        >
          Before you publish drafts, compare them with the published configuration. You see who would have been notified
          over the last 30 days, and who would not.
        </Empty>
      )}
    />
  );
}
