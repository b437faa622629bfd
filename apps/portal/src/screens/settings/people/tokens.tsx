import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../../api/client.ts';
import { meQuery } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { Empty, Loading, Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Curl } from '../../../ui/curl.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Actions, PageBody, Quiet, Row, Rows } from '../../../ui/page.tsx';
import { RadioGroup } from '../../../ui/radio-group.tsx';
import { Select } from '../../../ui/select.tsx';
import { Lamp } from '../../../ui/state.tsx';
import { Time } from '../../../ui/time.tsx';
import { say } from '../../../ui/notices.ts';
import { Checkbox } from '../../../ui/toggle.tsx';
import { Confirm } from '../../../ui/confirm.tsx';
import { expiryOf, LIFETIMES, type Lifetime } from '../expiry.ts';
import { KeptOnce } from '../kept-once.tsx';
import { IfAllowed, useUnseen } from '../../../ui/if-allowed.tsx';
import { SettingsHead } from '../settings-head.tsx';
import styles from '../settings.module.css';

const TOKENS = '/v1/tokens';
type Token = Schemas['ServiceToken'];
type Scope = Token['scopes'][number];

const SCOPES: readonly { readonly id: Scope; readonly note: string }[] = [
  { id: 'read', note: 'see everything, with addresses masked' },
  { id: 'configure', note: 'change and publish' },
  { id: 'operate', note: 'decide about single messages' },
  { id: 'people', note: 'decide who may do what' },
];

/** What programs call the management API with. */
export function Tokens(): ReactNode {
  const unseen = useUnseen();
  const [isMaking, setMaking] = useState(false);
  return (
    <>
      <SettingsHead
        title="Tokens"
        lead="Programs call the management API with a token. A token can have fewer permissions than you."
      >
        <Button kind="main" off={unseen.reason} onPress={() => setMaking(true)}>
          New token
        </Button>
      </SettingsHead>
      <PageBody>
        <IfAllowed {...unseen}>
          <TokenList />
        </IfAllowed>
      </PageBody>
      {isMaking && <NewToken onClose={() => setMaking(false)} />}
    </>
  );
}

function TokenList(): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [TOKENS],
    queryFn: ({ signal }) => bodyOf(api.GET(TOKENS, { signal })),
  });
  const [ending, setEnding] = useState<Token | null>(null);
  return (
    <>
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="tokens" rows={3} />}
      {data?.items.length === 0 && (
        <Empty title="No tokens yet">
          Make a token for each program, such as a nightly report. You can then revoke one without the others.
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <Rows label="Tokens">
          {data.items.map((token) => (
            <Row key={token.id}>
              <div>
                <h2>{token.name}</h2>
                <Quiet>
                  May {token.scopes.join(', ')} in{' '}
                  {token.workspaces === null ? 'the whole deployment' : token.workspaces.join(', ')} ·{' '}
                  {token.used_at === null ? (
                    'never used'
                  ) : (
                    <>
                      last used <Time at={token.used_at} />
                    </>
                  )}
                  {token.expires_at !== null && !token.expired && (
                    <>
                      {' '}
                      · expires <Time at={token.expires_at} />
                    </>
                  )}
                </Quiet>{' '}
                {token.expired && <Lamp tone="bad">Expired</Lamp>}
              </div>
              <Actions>
                <Button kind="danger" onPress={() => setEnding(token)} aria-label={`Revoke ${token.name}`}>
                  Revoke
                </Button>
              </Actions>
            </Row>
          ))}
        </Rows>
      )}
      <Curl call={{ method: 'GET', path: TOKENS }} />
      {ending && <EndToken token={ending} onClose={() => setEnding(null)} />}
    </>
  );
}

function EndToken({
  token: { id, name },
  onClose,
}: {
  readonly token: Token;
  readonly onClose: () => void;
}): ReactNode {
  const end = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/v1/tokens/{id}', { params: { path: { id } } })),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: [TOKENS] });
      say(`The token ${name} is revoked.`);
      onClose();
    },
  });
  return (
    <Confirm
      title={`Revoke the token ${name}?`}
      verb={`Revoke ${name}`}
      call={{ method: 'DELETE', path: `${TOKENS}/${id}` }}
      error={end.error}
      isPending={end.isPending}
      onDo={() => end.mutate()}
      onClose={onClose}
    >
      Programs that use this token are refused from their next request. You cannot undo this.
    </Confirm>
  );
}

/** All workspaces, those to come too, or some. */
type Reach = 'all' | 'some';

function NewToken({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { data: me } = useQuery(meQuery);
  const everywhere = me?.permissions.includes('people') ?? false;
  const mine = (me?.workspaces ?? [])
    .filter(({ permissions }) => permissions.includes('people'))
    .map(({ workspace }) => workspace);
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(['read']));
  const [wantedReach, setReach] = useState<Reach>('some');
  const reach = everywhere ? wantedReach : 'some';
  const [places, setPlaces] = useState<ReadonlySet<string>>(new Set());
  const [lifetime, setLifetime] = useState<Lifetime>('90d');
  const [isTried, setTried] = useState(false);
  const body = {
    name: name.trim(),
    scopes: SCOPES.map(({ id }) => id).filter((id) => scopes.has(id)),
    ...(reach === 'some' && { workspaces: mine.filter((one) => places.has(one)) }),
    ...expiryOf(lifetime),
  };
  const make = useMutation({
    mutationFn: () => bodyOf(api.POST(TOKENS, { body })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [TOKENS] }),
  });
  if (make.data) {
    return (
      <KeptOnce title={`The token ${make.data.name}`} what="the token" text={make.data.token} onDone={onClose}>
        <p>
          The token is shown only now. Programs send it as <code>Authorization: Bearer</code>.
        </p>
      </KeptOnce>
    );
  }
  const faults = [
    body.name === '' && 'Enter a name.',
    body.scopes.length === 0 && 'Choose at least one permission.',
    reach === 'some' && body.workspaces?.length === 0 && 'Choose a workspace.',
  ].filter((one) => one !== false);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (faults.length === 0 && !make.isPending) make.mutate();
  };
  const toggled = <Item,>(set: ReadonlySet<Item>, item: Item, isOn: boolean): ReadonlySet<Item> =>
    new Set(isOn ? [...set, item] : [...set].filter((one) => one !== item));
  return (
    <Dialog title="New token" isOpen onClose={onClose}>
      <form className={cls(styles.form)} onSubmit={submit}>
        <Field
          label="Name"
          value={name}
          onChange={setName}
          placeholder="nightly report"
          autoComplete="off"
          autoFocus
          note="Name of the program that uses the token."
        />
        <fieldset className={cls(styles.set)}>
          <legend className={cls(styles.legend)}>Permissions</legend>
          {SCOPES.map(({ id, note }) => (
            <Checkbox key={id} isOn={scopes.has(id)} onChange={(isOn) => setScopes(toggled(scopes, id, isOn))}>
              {id}: {note}
            </Checkbox>
          ))}
        </fieldset>
        {everywhere && (
          <RadioGroup
            label="Where"
            options={[
              { id: 'some', name: 'In some workspaces' },
              {
                id: 'all',
                name: 'In the whole deployment',
                note: 'Includes future workspaces, and what belongs to no workspace.',
              },
            ]}
            chosen={reach}
            onChoose={setReach}
          />
        )}
        {reach === 'some' && (
          <fieldset className={cls(styles.set)}>
            <legend className={cls(styles.legend)}>Workspaces</legend>
            <div className={cls(styles.ticks)}>
              {mine.map((one) => (
                <Checkbox key={one} isOn={places.has(one)} onChange={(isOn) => setPlaces(toggled(places, one, isOn))}>
                  {one}
                </Checkbox>
              ))}
            </div>
          </fieldset>
        )}
        <Select label="Expires" options={LIFETIMES} chosen={lifetime} onChoose={setLifetime} />
        {isTried && faults.length > 0 && <Problem error={new Error(faults.join(' '))} />}
        {make.error && <Problem error={make.error} />}
        <Curl call={{ method: 'POST', path: TOKENS, body }} />
        <Actions>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" kind="main" isDisabled={make.isPending}>
            Create the token
          </Button>
        </Actions>
      </form>
    </Dialog>
  );
}
