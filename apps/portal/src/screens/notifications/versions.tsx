import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Card, Quiet } from '../../ui/page.tsx';
import { NativeSelect } from '../../ui/native-select.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { Fields } from '../drafts/fields.tsx';
import { FileDiff } from '../drafts/file-diff.tsx';
import { originWords } from '../versions/origin-words.ts';
import { NotificationFrame, type NotificationDraft } from './notification-frame.tsx';
import styles from './notifications.module.css';

type Version = Schemas['Version'];
const FROM = '/workspaces/$w/notifications/$n/versions';
const VERSIONS = '/v1/workspaces/{workspace}/notifications/{name}/versions';

const versionsQuery = (workspace: string, name: string) =>
  queryOptions({
    queryKey: [VERSIONS, workspace, name],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(VERSIONS, { params: { path: { workspace, name }, query: { limit: 100 } }, signal })),
    retry: false,
  });
const diffQuery = (workspace: string, name: string, from: number, to: number) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/notifications/{name}/diff', workspace, name, from, to],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/notifications/{name}/diff', {
          params: { path: { workspace, name }, query: { from, to } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });

/** What a notification was: who published each version and why, any two compared, and the way back to one of them. */
export function NotificationVersions(): ReactNode {
  const { w, n } = useParams({ from: FROM });
  return (
    <NotificationFrame w={w} n={n}>
      {(draft) =>
        draft.resource === null ? (
          <Empty title="Not published yet">The first version is created when you publish the draft.</Empty>
        ) : (
          <Timeline draft={draft} />
        )
      }
    </NotificationFrame>
  );
}

const wordsOf = ({ version, action, number }: Version): string =>
  version === null || action === 'delete' ? `Removed (configuration ${number})` : `Version ${version}`;

function Timeline({ draft }: { readonly draft: NotificationDraft }): ReactNode {
  const { workspace: w, name: n } = draft;
  const { data, error, refetch } = useQuery(versionsQuery(w, n));
  const search = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const versions = data?.items ?? [];
  const [newest, before] = versions;
  const known = (text: string | undefined): number | undefined =>
    versions.find(({ number }) => String(number) === text)?.number;
  const to = known(search.to) ?? newest?.number;
  const from = known(search.from) ?? before?.number;
  const step = (by: number): void => {
    const at = versions.findIndex(({ number }) => number === to);
    const next = versions[at + by];
    const older = versions[at + by + 1];
    if (next && older)
      void navigate({ search: { from: String(older.number), to: String(next.number) }, replace: true });
  };
  useLetter('[', () => step(1));
  useLetter(']', () => step(-1));
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="versions" />}
      {versions.length === 1 && <p>This is the first version.</p>}
      {versions.length > 0 && (
        <ol aria-label="Versions, newest first" className={cls(styles.timeline)}>
          {versions.map((version, at) => (
            <VersionRow key={version.number} version={version} isNewest={at === 0} draft={draft} />
          ))}
        </ol>
      )}
      {versions.length > 1 && from !== undefined && to !== undefined && (
        <Card title="Compare">
          <div className={cls(styles.pair)}>
            {(['from', 'to'] as const).map((side) => (
              <NativeSelect
                key={side}
                label={side === 'from' ? 'From' : 'To'}
                options={versions.map((version) => ({ id: String(version.number), name: wordsOf(version) }))}
                value={String(side === 'from' ? from : to)}
                onChange={(number) =>
                  void navigate({ search: { from: String(from), to: String(to), [side]: number }, replace: true })
                }
              />
            ))}
          </div>
          <Difference w={w} n={n} from={from} to={to} />
          <Curl call={{ method: 'GET', path: `/v1/workspaces/${w}/notifications/${n}/diff?from=${from}&to=${to}` }} />
        </Card>
      )}
    </>
  );
}

function VersionRow({
  version,
  isNewest,
  draft,
}: {
  readonly version: Version;
  readonly isNewest: boolean;
  readonly draft: NotificationDraft;
}): ReactNode {
  const { workspace: w, name: n } = draft;
  const navigate = useNavigate();
  const off = useMay('configure', w);
  const { number, at, by, origin, message } = version;
  const back = useMutation({
    mutationFn: async () => {
      const path = { workspace: w, name: n, number };
      const old = await bodyOf(
        api.GET('/v1/workspaces/{workspace}/notifications/{name}/versions/{number}', { params: { path } }),
      );
      draft.change(old.body);
      await draft.saveNow();
    },
    onSuccess: () => navigate({ to: '/workspaces/$w/drafts', params: { w } }),
  });
  return (
    <li className={cls(styles.row)}>
      <div className={cls(styles.name)}>
        <h2>{wordsOf(version)}</h2>
        {isNewest && <Lamp tone="good">Current</Lamp>}
      </div>
      {!isNewest && version.action !== 'delete' && (
        <Button off={off} isDisabled={back.isPending} onPress={() => back.mutate()}>
          Roll back to this version
        </Button>
      )}
      <p className={cls(styles.sentence)}>
        {message !== null && <>“{message}” · </>}
        <Quiet>
          {by.name ?? by.id}, {originWords(origin)}, <Time at={at} />, configuration {number}
        </Quiet>
      </p>
      {back.error && <Problem error={back.error} />}
    </li>
  );
}

function Difference({
  w,
  n,
  from,
  to,
}: {
  readonly w: string;
  readonly n: string;
  readonly from: number;
  readonly to: number;
}): ReactNode {
  const { data, error, refetch } = useQuery(diffQuery(w, n, from, to));
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the difference" rows={3} />;
  if (data.fields.length === 0) return <p>Both versions are the same.</p>;
  return (
    <>
      <Fields fields={data.fields} />
      {data.files.map((file) => (
        <FileDiff key={file.path} file={file} />
      ))}
    </>
  );
}
