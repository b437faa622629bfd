import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { meQuery, useMay } from '../../api/me.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Field } from '../../ui/field.tsx';
import { Actions, Card, PageBody, Quiet, Row, Rows } from '../../ui/page.tsx';
import { Select } from '../../ui/select.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { IfAllowed, useUnseen } from '../../ui/if-allowed.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import { useNamesOfPeople } from './people/names.ts';
import { SettingsHead } from './settings-head.tsx';
import styles from './settings.module.css';

const AUDIT = '/v1/workspaces/{workspace}/audit';
const EVERY = '-';
type Entry = Schemas['AuditEntry'];
type Filters = ReturnType<typeof useFilters>;
const useFilters = () => useSearch({ from: '/settings/audit' });

/** Who did what, from where, and whether it still stands as it was written. */
export function Audit(): ReactNode {
  const filters = useFilters();
  const unseen = useUnseen();
  const offVerify = useMay('audit', null);
  return (
    <>
      <SettingsHead
        title="Audit"
        lead="Who did what, and from where. The records form a sealed chain, so that a changed or missing record is found."
      />
      <PageBody>
        <IfAllowed {...unseen}>
          <Verify off={offVerify} />
          {/* Another workspace keeps the form, and so the focus of its select. */}
          <FilterForm key={JSON.stringify({ ...filters, workspace: undefined })} filters={filters} />
          <Entries filters={filters} />
        </IfAllowed>
      </PageBody>
    </>
  );
}

function Verify({ off }: { readonly off: string | null }): ReactNode {
  const verify = useMutation({ mutationFn: () => bodyOf(api.POST('/v1/audit/verify', { body: {} })) });
  const verdict = verify.data;
  return (
    <Card title="Chain">
      <Actions>
        <Button off={off} isDisabled={verify.isPending} onPress={() => verify.mutate()}>
          Verify chain
        </Button>
        <span role="status">
          {verify.isPending && 'Verifying the chain from its start …'}
          {verdict?.ok && (
            <Lamp tone="good" name="whole">
              Complete: {verdict.records} records{verdict.begins > 0 && ` from position ${verdict.begins} on`},{' '}
              {verdict.seals} seals valid
            </Lamp>
          )}
          {verdict?.fault && (
            <Lamp tone="bad" name="broken">
              Broken: {verdict.fault.sentence}
            </Lamp>
          )}
        </span>
      </Actions>
      {verify.error && <Problem error={verify.error} />}
      <Curl call={{ method: 'POST', path: '/v1/audit/verify', body: {} }} />
    </Card>
  );
}

const dayOf = (time: string | undefined): string => time?.slice(0, 10) ?? '';

function FilterForm({ filters }: { readonly filters: Filters }): ReactNode {
  const navigate = useNavigate({ from: '/settings/audit' });
  const { data: me } = useQuery(meQuery);
  const [actor, setActor] = useState(filters.actor ?? '');
  const [target, setTarget] = useState(filters.target ?? '');
  const [action, setAction] = useState(filters.action ?? '');
  const [from, setFrom] = useState(dayOf(filters.from));
  const [to, setTo] = useState(dayOf(filters.to));
  const places = [
    { id: EVERY, name: 'All that you can see' },
    ...(me?.workspaces ?? [])
      .filter(({ permissions }) => permissions.includes('audit'))
      .map(({ workspace }) => ({ id: workspace, name: workspace })),
  ];
  const go = (more: { readonly workspace?: string | undefined } = {}): void => {
    const { workspace = filters.workspace } = more;
    const words = {
      workspace: workspace === EVERY ? '' : (workspace ?? ''),
      actor: actor.trim(),
      action: action.trim(),
      target: target.trim(),
      from: from === '' ? '' : `${from}T00:00:00Z`,
      to: to === '' ? '' : `${to}T00:00:00Z`,
    };
    const search = Object.fromEntries(Object.entries(words).filter(([, word]) => word !== ''));
    void navigate({ search });
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    go();
  };
  return (
    <form onSubmit={submit} aria-label="Filters" className={cls(styles.form)}>
      <div className={cls(styles.filters)}>
        <Select
          label="Workspace"
          options={places}
          chosen={filters.workspace ?? EVERY}
          onChoose={(workspace) => go({ workspace })}
        />
        <Field label="Who" value={actor} onChange={setActor} placeholder="per_… or owner" autoComplete="off" isMono />
        <Field
          label="Action"
          value={action}
          onChange={setAction}
          placeholder="session.open"
          autoComplete="off"
          isMono
        />
        <Field label="Target" value={target} onChange={setTarget} autoComplete="off" isMono />
        <Field label="From (UTC)" type="date" value={from} onChange={setFrom} />
        <Field label="Before (UTC)" type="date" value={to} onChange={setTo} />
      </div>
      <Actions>
        <Button type="submit">Filter</Button>
        <Button kind="quiet" onPress={() => void navigate({ search: {} })}>
          Clear the filters
        </Button>
      </Actions>
    </form>
  );
}

function Entries({ filters }: { readonly filters: Filters }): ReactNode {
  const { workspace = EVERY, ...wanted } = filters;
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [AUDIT, workspace, wanted],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET(AUDIT, {
          params: {
            path: { workspace },
            query: { limit: 50, ...(wanted as object), ...(pageParam !== null && { cursor: pageParam }) },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  const names = useNamesOfPeople();
  const entries = data?.pages.flatMap(({ items }) => items);
  const query = new URLSearchParams(Object.entries(wanted).filter((one): one is [string, string] => Boolean(one[1])));
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!entries && !error && <Loading what="the audit" />}
      {entries?.length === 0 && <Empty title="Nothing matches">No action matches that you are allowed to see.</Empty>}
      {entries && entries.length > 0 && (
        <Rows label="Recorded actions">
          {entries.map((entry) => (
            <EntryRow key={entry.id} entry={entry} names={names} />
          ))}
        </Rows>
      )}
      {hasNextPage && (
        <Actions>
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            Show older actions
          </Button>
        </Actions>
      )}
      <Curl call={{ method: 'GET', path: `/v1/workspaces/${workspace}/audit${query.size > 0 ? `?${query}` : ''}` }} />
    </>
  );
}

function EntryRow({ entry, names }: { readonly entry: Entry; readonly names: ReadonlyMap<string, string> }): ReactNode {
  const { at, actor, action, target, workspace, from, request_id, number, outcome, detail } = entry;
  const { action_words: actionWords, outcome_words: outcomeWords } = entry;
  return (
    <Row>
      <div>
        <h3>
          {actorName(actor, names)} {actionWords}
          {target !== null && (
            <>
              {' '}
              <Id>{names.get(target) ?? target}</Id>
            </>
          )}
          {workspace !== null && ` in ${workspace}`}
        </h3>
        <Quiet>
          <Time at={at} /> · {action}
          {from.address !== null && ` · from ${from.address}`}
          {request_id !== null && (
            <>
              {' '}
              · request <Id>{request_id}</Id>
            </>
          )}
          {number !== null && ` · configuration ${number}`}
        </Quiet>
        {detail !== null && (
          <Quiet>
            <Sentence text={detail} />
          </Quiet>
        )}
      </div>
      {outcomeWords !== null && (
        <Lamp tone={outcome === 'begun' ? 'wait' : 'bad'} name={outcome}>
          {outcomeWords}
        </Lamp>
      )}
    </Row>
  );
}

/** Returns the name of an actor, or the id of one whose name is not known. */
function actorName(actor: Entry['actor'], names: ReadonlyMap<string, string>): string {
  if (actor === null) return 'Somebody unknown';
  if (actor.kind === 'cli') return 'The owner token';
  if (actor.kind === 'system') return 'Carillon';
  const name = names.get(actor.id);
  if (name !== undefined) return name;
  return actor.kind === 'token' ? `Token ${actor.id}` : `Person ${actor.id}`;
}
