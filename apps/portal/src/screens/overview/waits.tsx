import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useOnChange } from '../../api/live.ts';
import { cls } from '../../ui/class-names.ts';
import { useNow } from '../../ui/now.ts';
import { Card } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { sendingQuery } from '../accounts/queries.ts';
import { formatRefusalShare } from '../accounts/sending-words.ts';
import { draftsQuery } from '../drafts/queries.ts';
import { waitingPartnersQuery } from '../integrations/queries.ts';
import { PartnerWords } from '../integrations/waiting.tsx';
import type { Insights } from '../notifications/queries.ts';
import { sourcesQuery } from '../sources/queries.ts';
import { ResetButton } from '../sources/source-state.tsx';
import { needingAttention, SOURCE_STATES } from '../sources/source-text.ts';
import { SourceLag, SourceSentence } from '../sources/troubled-sources.tsx';
import { endsWords } from './overview-words.ts';
import { keysQuery, lettersQuery } from './queries.ts';
import styles from './overview.module.css';

/** In milliseconds: so long before its end a key is named. */
const SOON = 14 * 86_400_000;
/** In milliseconds: so soon after a change it is counted anew. */
const COUNTED_AFTER = 1_000;

type Leaving = NonNullable<Schemas['DeadLetterCount']['leaving']>;

/** The API counts no further. */
const MAX_LEAVING = 500;

/** Says how many open dead letters retention removes, and when it begins. */
const LeavingLetters = ({ leaving: { count, from } }: { readonly leaving: Leaving }): ReactNode =>
  count >= MAX_LEAVING ? (
    'At least 500 open dead letters expire within seven days'
  ) : (
    <>
      {count === 1 ? '1 open dead letter expires' : `${count} open dead letters expire`} from <Time at={from} /> on
    </>
  );

/** What only a person can decide, each with the way there. */
export function Waits({
  workspace,
  inDoubt,
}: {
  readonly workspace: string;
  readonly inDoubt: Insights['in_doubt'];
}): ReactNode {
  const params = { w: workspace };
  const now = useNow();
  const { data: drafts, refetch: askDrafts } = useQuery(draftsQuery(workspace));
  const { data: keys } = useQuery(keysQuery(workspace));
  const { data: letters, refetch: askLetters } = useQuery(lettersQuery(workspace));
  const { data: partners } = useQuery(waitingPartnersQuery(workspace));
  const { data: sending } = useQuery(sendingQuery(workspace));
  const { data: sources } = useQuery(sourcesQuery(workspace));
  useOnChange(workspace, 'drafts', COUNTED_AFTER, () => askDrafts());
  useOnChange(workspace, 'dead-letters', COUNTED_AFTER, () => askLetters());
  const conflicts = drafts?.items.filter(({ state }) => state === 'conflict').length ?? 0;
  const open = (drafts?.items.length ?? 0) - conflicts;
  const ending = (keys?.items ?? []).filter(({ expires_at: at }) => at !== null && Date.parse(at) - now < SOON);
  const lines: ReactNode[] = [];
  if (inDoubt.deliveries > 0) {
    lines.push(
      <li key="doubt">
        <Lamp tone="doubt">In doubt</Lamp>
        <Link to="/workspaces/$w/deliveries/in-doubt" params={params}>
          {inDoubt.deliveries.toLocaleString('en')}
          {inDoubt.complete ? '' : ' or more'}
          {inDoubt.deliveries === 1 ? ' message: was it sent?' : ' messages: were they sent?'}
        </Link>
      </li>,
    );
  }
  const stuck = (letters?.count ?? 0) + (letters?.receipts ?? 0);
  if (stuck > 0) {
    lines.push(
      <li key="letters">
        <Lamp tone="bad">Dead letters</Lamp>
        <Link to="/workspaces/$w/deliveries/dead-letters" params={params}>
          {stuck.toLocaleString('en')}
          {letters?.more === true ? ' or more' : ''} records could not be processed
        </Link>
      </li>,
    );
  }
  const leaving = letters?.leaving ?? null;
  if (leaving !== null) {
    lines.push(
      <li key="letters leaving">
        <Lamp tone="bad">Retention</Lamp>
        <Link to="/workspaces/$w/deliveries/dead-letters" params={params}>
          <LeavingLetters leaving={leaving} />
        </Link>
      </li>,
    );
  }
  for (const { channel, accounts } of sending?.channels ?? []) {
    for (const { account, refusals } of accounts) {
      for (const { notification, ...counts } of refusals.filter(({ high }) => high)) {
        lines.push(
          <li key={`refused ${channel} ${account} ${notification}`}>
            <Lamp tone="bad">Refused</Lamp>
            <Link to="/workspaces/$w/deliveries" params={params} search={{ state: 'FAILED', notification }}>
              {notification} over {account}: {formatRefusalShare(counts)} in the last 15 minutes
            </Link>
          </li>,
        );
      }
    }
  }
  for (const partner of partners?.items.filter(({ failing_since: since }) => since !== null) ?? []) {
    lines.push(
      <li key={`partner ${partner.integration}`}>
        <Lamp tone="bad">Partner</Lamp>
        <Link to="/workspaces/$w/integrations/$i" params={{ w: workspace, i: partner.integration }}>
          <PartnerWords partner={partner} />
        </Link>
      </li>,
    );
  }
  for (const source of needingAttention(sources?.items ?? [])) {
    lines.push(
      <li key={`source ${source.name}`}>
        <Lamp tone={SOURCE_STATES[source.state].tone}>Source</Lamp>
        <SourceSentence source={source} />
        <SourceLag source={source} />
        <ResetButton source={source} />
      </li>,
    );
  }
  if (conflicts + open > 0) {
    lines.push(
      <li key="drafts">
        <Lamp tone="held">{conflicts > 0 ? 'Conflict' : 'Draft'}</Lamp>
        <Link to="/workspaces/$w/drafts" params={params}>
          {conflicts > 0 ? `${conflicts} in conflict with what was published meanwhile` : `${open} not published yet`}
        </Link>
      </li>,
    );
  }
  for (const { name, expires_at: at } of ending) {
    lines.push(
      <li key={`key ${name}`}>
        <Lamp tone="held">API key</Lamp>
        <Link to="/settings/identity/api-keys" search={{ workspace }}>
          “{name}” {endsWords(at ?? '', now)}
        </Link>
      </li>,
    );
  }
  if (lines.length === 0) return null;
  return (
    <Card title="Needs your attention">
      <ul className={cls(styles.waits)}>{lines}</ul>
    </Card>
  );
}
