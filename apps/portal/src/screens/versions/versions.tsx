import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions, PageBody, PageHead, Quiet } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { actionWords, counted, titleOf } from '../drafts/change-words.ts';
import { Fields } from '../drafts/fields.tsx';
import { FileDiff } from '../drafts/file-diff.tsx';
import { originWords } from './origin-words.ts';
import { changeQuery, hasBody, publicationsQuery, type Change, type Publication } from './queries.ts';
import { Rollback } from './rollback.tsx';
import styles from './versions.module.css';

const CompareVersion = lazyPart(() =>
  import('../runs/compare-version.tsx').then(({ CompareVersion: loaded }) => loaded),
);

const FROM = '/workspaces/$w/versions';

/** Everything that was published in a workspace: who, when, how and why, what it changed, and the way back. */
export function Versions(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery(
    publicationsQuery(w),
  );
  const items = data?.pages.flatMap((page) => page.items) ?? [];
  const show = (number: number | undefined): void =>
    void navigate({ search: number === undefined ? {} : { open: String(number) }, replace: true });
  const step = (by: number): void => {
    const at = items.findIndex(({ number }) => String(number) === open);
    const next = items[at < 0 ? 0 : at + by];
    if (next) show(next.number);
  };
  useLetter('[', () => step(1));
  useLetter(']', () => step(-1));
  return (
    <>
      <PageHead
        title="Versions"
        lead="All publications in this workspace, newest first, from the portal, the API and the command line."
      >
        <Link to="/workspaces/$w/promote" params={{ w }}>
          Test environments
        </Link>
      </PageHead>
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="versions" />}
        {data && items.length === 0 && (
          <Empty
            title="Nothing published yet"
            action={
              <Link to="/workspaces/$w/drafts" params={{ w }}>
                Review and publish
              </Link>
            }
          >
            The history begins with the first change that you publish.
          </Empty>
        )}
        {items.length === 1 && !hasNextPage && <p>This is the first version.</p>}
        {items.length > 0 && (
          <ol aria-label="Versions, newest first" className={cls(styles.list)}>
            {items.map((publication, at) => (
              <Row
                key={publication.number}
                workspace={w}
                publication={publication}
                isNewest={at === 0}
                isOpen={String(publication.number) === open}
                onToggle={(isOpen) => show(isOpen ? publication.number : undefined)}
              />
            ))}
          </ol>
        )}
        {hasNextPage && (
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            Show older versions
          </Button>
        )}
        {data && <Curl call={{ method: 'GET', path: `/v1/workspaces/${w}/versions` }} />}
      </PageBody>
    </>
  );
}

/** So many changes are named in the line of a publication. */
const NAMED = 3;

function summaryOf(changes: readonly Change[]): string {
  const named = changes.slice(0, NAMED).map((change) => `${titleOf(change)} ${actionWords(change.action)}`);
  const more = changes.length - named.length;
  return [...named, ...(more > 0 ? [counted(more, 'more change')] : [])].join(', ');
}

function Row({
  workspace,
  publication,
  isNewest,
  isOpen,
  onToggle,
}: {
  readonly workspace: string;
  readonly publication: Publication;
  readonly isNewest: boolean;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}): ReactNode {
  const { number, at, by, origin, message, changes } = publication;
  return (
    <li className={cls(styles.row)}>
      <div className={cls(styles.headline)}>
        <h2>{summaryOf(changes)}</h2>
        {isNewest && <Lamp tone="good">Newest</Lamp>}
        <Button
          kind="quiet"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? 'Hide changes' : 'Show changes'} of configuration ${number}`}
          onPress={() => onToggle(!isOpen)}
        >
          {isOpen ? 'Hide changes' : 'Show changes'}
        </Button>
      </div>
      <p>
        {message !== null && <>“{message}” · </>}
        <Quiet>
          {by.name ?? by.id}, {originWords(origin)}, <Time at={at} />, configuration {number}
        </Quiet>
      </p>
      {isOpen && (
        <ul aria-label={`Changes of configuration ${number}`} className={cls(styles.changes)}>
          {changes.map((change) => (
            <ChangeOf
              key={`${change.kind} ${change.name}`}
              workspace={workspace}
              change={change}
              number={number}
              isNewest={isNewest}
            />
          ))}
        </ul>
      )}
      {isOpen && number > 0 && (
        <Part>
          <CompareVersion workspace={workspace} number={number} />
        </Part>
      )}
    </li>
  );
}

function ChangeOf({
  workspace,
  change,
  number,
  isNewest,
}: {
  readonly workspace: string;
  readonly change: Change;
  readonly number: number;
  /** What it says counts now: there is no way back to it. */
  readonly isNewest: boolean;
}): ReactNode {
  const { data, error, refetch } = useQuery({
    ...changeQuery(workspace, change, number),
    enabled: hasBody(change) && number > 0,
  });
  const [to, setTo] = useState<number | null>(null);
  const off = useMay('configure', workspace);
  // Before the first configuration there is nothing that it could be compared with.
  const isFirst = number === 0;
  return (
    <li className={cls(styles.change)}>
      <h3>
        {titleOf(change)} {actionWords(change.action)}
      </h3>
      {!hasBody(change) && <Quiet>The contents of this resource are secret, so you cannot roll it back.</Quiet>}
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {hasBody(change) && !isFirst && !data && !error && <Loading what="the difference" rows={3} />}
      {data && change.action === 'update' && data.fields.length === 0 && (
        <p>No field changed. The template was compiled again, because an included layout or partial changed.</p>
      )}
      {data && change.action === 'update' && <Fields fields={data.fields} />}
      {data?.files.map((file) => (
        <FileDiff key={file.path} file={file} />
      ))}
      {hasBody(change) && (data || isFirst) && (
        <Actions>
          {change.action !== 'create' && (
            <Button off={off} onPress={() => setTo(number - 1)}>
              Undo this change
            </Button>
          )}
          {change.action !== 'delete' && !isNewest && (
            <Button off={off} onPress={() => setTo(number)}>
              Roll back to this version
            </Button>
          )}
        </Actions>
      )}
      {to !== null && <Rollback workspace={workspace} change={change} number={to} onClose={() => setTo(null)} />}
    </li>
  );
}
