import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { EditedDraft } from '../../api/use-draft.ts';
import { Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Id } from '../../ui/text.tsx';
import { useSettled } from '../../ui/use-settled.ts';
import { notificationsQuery } from '../notifications/queries.ts';
import { missingWords } from './missing-words.ts';
import { missingQuery } from './queries.ts';
import type { Channel } from './template-parts.ts';
import { sentAs } from './users.ts';
import styles from './templates.module.css';

/** In milliseconds after the last saving: a thousand events are judged and rendered for each count. */
const PAUSE = 2_000;
/** Variables beyond so many are counted. */
const MOST = 20;

/** Which variables the messages of the newest events would lack, in how many of them, each with such an event; null: not counted yet. */
export function useMissing(draft: EditedDraft<'templates'>, channel: Channel): ReactNode {
  const { workspace, name, draftRevision, saving, faults } = draft;
  const saved = useSettled(draftRevision, PAUSE);
  const isSettled = saving === 'saved' && saved === draftRevision && faults.length === 0;
  const { data, error, refetch } = useQuery({ ...missingQuery(workspace, name, channel, saved), enabled: isSettled });
  const { data: notifications } = useQuery(notificationsQuery(workspace));
  // A count of before is shown on: it says itself what it counted.
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return null;
  const { variables } = data;
  const as = notifications ? sentAs(notifications.items, name, channel) : 'message';
  return (
    <div className={cls(styles.counts)} data-missing={variables.length}>
      <p className={cls(styles.quiet)}>{missingWords(data, as)}</p>
      {variables.length > 0 && (
        <ul className={cls(styles.counts)}>
          {variables.slice(0, MOST).map(({ variable, missing, event_id: id }) => (
            <li key={variable}>
              <span className={cls(styles.missing)}>
                <Id>{variable}</Id>
              </span>
              <span>missing in {missing.toLocaleString('en')}</span>
              <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id }}>
                Open the newest event without {variable}
              </Link>
            </li>
          ))}
          {variables.length > MOST && <li>and {variables.length - MOST} more</li>}
        </ul>
      )}
    </div>
  );
}
