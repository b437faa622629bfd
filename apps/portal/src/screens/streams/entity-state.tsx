import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { Field } from '../../ui/field.tsx';
import { say } from '../../ui/notices.ts';
import { Actions, Card } from '../../ui/page.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import { Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import styles from './streams.module.css';

type Entity = Schemas['Entity'];
type EntityProps = { readonly workspace: string; readonly path: string; readonly entityKey: string };

const MAX_KEY_LENGTH = 1024;
/** The engine forgets an entity once it has read the record, so a state is asked for again. */
const REFRESH_MS = 5_000;

/** Shows what rules keep of one entity of a stream, and has them forget it. */
export function EntityStateCard({ workspace, path }: Omit<EntityProps, 'entityKey'>): ReactNode {
  const [typed, setTyped] = useState('');
  const [shown, setShown] = useState<string | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (typed !== '') setShown(typed);
  };
  return (
    <Card title="State of an entity">
      <form className={cls(styles.form)} onSubmit={submit}>
        <Field
          label="Entity"
          note="Value at the key of the stream, such as the id of an order"
          value={typed}
          onChange={setTyped}
          maxLength={MAX_KEY_LENGTH}
          autoComplete="off"
        />
        <Actions>
          <Button type="submit" isDisabled={typed === ''}>
            Show state
          </Button>
        </Actions>
      </form>
      {shown !== null && <EntityState key={shown} workspace={workspace} path={path} entityKey={shown} />}
    </Card>
  );
}

function EntityState(props: EntityProps): ReactNode {
  const { workspace, path, entityKey } = props;
  const off = useMay('operate', workspace);
  const [isAsked, setAsked] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/streams/{name}/entities/{key}', workspace, path, entityKey],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/streams/{name}/entities/{key}', {
          params: { path: { workspace, name: path, key: entityKey } },
          signal,
        }),
      ),
    refetchInterval: REFRESH_MS,
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the state" rows={3} />;
  if (data.rules.length === 0 && data.decisions.length === 0) {
    return <p role="status">No rule has state for {entityKey}.</p>;
  }
  return (
    <>
      <Rules rules={data.rules} />
      <Decisions workspace={workspace} decisions={data.decisions} />
      <Actions>
        <Button kind="danger" off={off} onPress={() => setAsked(true)}>
          Forget {entityKey}…
        </Button>
      </Actions>
      {isAsked && <ForgetEntity {...props} onForgotten={() => void refetch()} onClose={() => setAsked(false)} />}
    </>
  );
}

const Rules = ({ rules }: Pick<Entity, 'rules'>): ReactNode => (
  <ul aria-label="State of rules" className={cls(styles.events)}>
    {rules.map(({ rule, rule_id: id, words, sentence }) => (
      <li key={id}>
        <p className={cls(styles.event)}>
          <b>{rule ?? id}</b>
          <small>{sentence}</small>
        </p>
        {words.map((line) => (
          <p key={line}>
            <Sentence text={line} />
          </p>
        ))}
      </li>
    ))}
  </ul>
);

function Decisions({ workspace, decisions }: { readonly workspace: string } & Pick<Entity, 'decisions'>): ReactNode {
  if (decisions.length === 0) return null;
  return (
    <>
      <h3>Newest decisions</h3>
      <ol aria-label="Newest decisions" className={cls(styles.events)}>
        {decisions.map(({ at, rule, rule_id: id, event, words }) => (
          <li key={`${at} ${id} ${event} ${words.join()}`}>
            <p className={cls(styles.event)}>
              <Time at={at} />
              <b>{rule ?? id}</b>
              <Sentence text={words.join('; ')} />
              <Link to="/workspaces/$w/events/$id" params={{ w: workspace, id: event }}>
                <Id>{event}</Id>
              </Link>
            </p>
          </li>
        ))}
      </ol>
    </>
  );
}

function ForgetEntity({
  workspace,
  path,
  entityKey,
  onForgotten,
  onClose,
}: EntityProps & { readonly onForgotten: () => void; readonly onClose: () => void }): ReactNode {
  const forget = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/workspaces/{workspace}/streams/{name}/entities/{key}/forget', {
          params: { path: { workspace, name: path, key: entityKey } },
          body: {},
        }),
      ),
    onSuccess() {
      say(`Rules forget ${entityKey} within seconds.`);
      onForgotten();
      onClose();
    },
  });
  const url = `/v1/workspaces/${workspace}/streams/${encodeURIComponent(path)}/entities/${encodeURIComponent(entityKey)}/forget`;
  return (
    <Confirm
      title={`Forget ${entityKey}?`}
      verb="Forget this entity"
      call={{ method: 'POST', path: url, body: {} }}
      error={forget.error}
      isPending={forget.isPending}
      onDo={() => forget.mutate()}
      onClose={onClose}
    >
      All rules of {path} forget this entity. Its waits end without a message, and its cooldowns end. The next event
      counts as its first. This cannot be undone.
    </Confirm>
  );
}
