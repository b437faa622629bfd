import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import type { Fault } from '../../api/use-draft.ts';
import { FormFaults } from '../../faults/form-faults.tsx';
import { FaultGroup } from '../../ui/held-fault.tsx';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Field } from '../../ui/field.tsx';
import { RadioGroup } from '../../ui/radio-group.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Checkbox } from '../../ui/toggle.tsx';
import { Time } from '../../ui/time.tsx';
import styles from './notifications.module.css';

export type Security = {
  readonly api_keys?: string[];
  readonly jwt_provider?: string;
  readonly claims?: { [claim: string]: string | number | boolean };
};

/** Names that a stream takes: one, and one more while it is exchanged. */
const MAX_KEYS = 2;

/** API keys of a workspace, without what they hold. */
export const keysQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/api-keys', workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/api-keys', { params: { path: { workspace } }, signal })),
  });
const providersQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/jwt-providers', workspace],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/jwt-providers', {
          params: { path: { workspace }, query: { limit: 500 } },
          signal,
        }),
      ),
  });

type ChoiceProps = {
  readonly workspace: string;
  readonly security: Security;
  readonly faults: readonly Fault[];
  readonly isDraft: boolean;
  readonly onChange: (security: Security) => void;
};

const KINDS = [
  { id: 'keys', name: 'API key', note: 'For servers. Every holder of the key may send any event.' },
  { id: 'jwt', name: 'JWT provider', note: 'For browsers and apps. Users send with the token of their sign-in.' },
] as const;

/** Chooses existing API keys, or a JWT provider with the claims that an event has to agree with. */
export function SecurityChoice({ workspace, security, faults, isDraft, onChange }: ChoiceProps): ReactNode {
  const [picked, setPicked] = useState<'keys' | 'jwt' | null>(null);
  const kind = picked ?? (security.jwt_provider === undefined ? 'keys' : 'jwt');
  return (
    <FaultGroup>
      <RadioGroup label="Senders sign in with" options={KINDS} chosen={kind} onChoose={setPicked} />
      {kind === 'keys' ? (
        <Keys workspace={workspace} chosen={security.api_keys ?? []} onChange={(api_keys) => onChange({ api_keys })} />
      ) : (
        <Provider workspace={workspace} security={security} onChange={onChange} />
      )}
      <FormFaults faults={faults} />
      {isDraft && (
        <p>
          <Lamp tone="held">Draft</Lamp> Takes effect when you publish. Until then, Carillon checks senders as before.
        </p>
      )}
    </FaultGroup>
  );
}

function Keys({
  workspace,
  chosen,
  onChange,
}: {
  readonly workspace: string;
  readonly chosen: readonly string[];
  readonly onChange: (keys: string[]) => void;
}): ReactNode {
  const { data, error, refetch } = useQuery(keysQuery(workspace));
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="API keys" rows={2} />;
  const known = data.items.map(({ name }) => name);
  const gone = chosen.filter((name) => !known.includes(name));
  const request = (
    <Link to="/settings/identity/api-keys" search={{ workspace }} className={cls(styles.request)}>
      Request a key
    </Link>
  );
  if (data.items.length === 0 && gone.length === 0) return <p>No key yet. {request}, then choose it here.</p>;
  const isFull = chosen.length >= MAX_KEYS;
  return (
    <fieldset className={cls(styles.set)}>
      <legend>Allowed keys (two while you rotate). {request}</legend>
      {data.items.map(({ name, expired, last_used_at: used }) => (
        <Checkbox
          key={name}
          isOn={chosen.includes(name)}
          isDisabled={isFull && !chosen.includes(name)}
          onChange={(isOn) => onChange(isOn ? [...chosen, name] : chosen.filter((one) => one !== name))}
        >
          {name} {expired && <Lamp tone="bad">expired</Lamp>}
          <small className={cls(styles.small)}>
            {used === null ? (
              'never used'
            ) : (
              <>
                last used <Time at={used} />
              </>
            )}
          </small>
        </Checkbox>
      ))}
      {gone.map((name) => (
        <Checkbox key={name} isOn onChange={() => onChange(chosen.filter((one) => one !== name))}>
          {name} <Lamp tone="bad">no such key</Lamp>
        </Checkbox>
      ))}
    </fieldset>
  );
}

function Provider({
  workspace,
  security,
  onChange,
}: {
  readonly workspace: string;
  readonly security: Security;
  readonly onChange: (security: Security) => void;
}): ReactNode {
  const { data, error, refetch } = useQuery(providersQuery(workspace));
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="JWT providers" rows={2} />;
  const add = (
    <Link to="/settings/identity/jwt-providers" search={{ workspace }}>
      Add a provider
    </Link>
  );
  if (data.items.length === 0) return <p>No JWT provider yet. {add}, then choose it here.</p>;
  const { jwt_provider: chosen = null, claims = {} } = security;
  return (
    <>
      <RadioGroup
        label="Provider"
        options={data.items.map(({ name, body }) => ({ id: name, name, note: body.issuer ?? body.jwks_url }))}
        chosen={chosen}
        onChoose={(name) => onChange({ jwt_provider: name, ...(Object.keys(claims).length > 0 && { claims }) })}
      />
      <p>{add}</p>
      {chosen !== null && (
        <Claims
          claims={claims}
          onChange={(next) => onChange({ jwt_provider: chosen, ...(Object.keys(next).length > 0 && { claims: next }) })}
        />
      )}
    </>
  );
}

/** Claims bound to fields: an event that says otherwise than its token is refused. */
function Claims({
  claims,
  onChange,
}: {
  readonly claims: NonNullable<Security['claims']>;
  readonly onChange: (claims: NonNullable<Security['claims']>) => void;
}): ReactNode {
  const [claim, setClaim] = useState('sub');
  const [path, setPath] = useState('event.user_id');
  const entries = Object.entries(claims);
  return (
    <fieldset className={cls(styles.set)}>
      <legend>Claims that must match the event</legend>
      {entries.length === 0 && <p>No claims: a user can send events about any person.</p>}
      {entries.map(([name, bound]) => (
        <p key={name} className={cls(styles.claim)}>
          <code>
            {name} = {String(bound)}
          </code>
          <Button
            kind="quiet"
            isIcon
            aria-label={`Remove the claim ${name}`}
            onPress={() => onChange(Object.fromEntries(entries.filter(([one]) => one !== name)))}
          >
            <X size={16} aria-hidden />
          </Button>
        </p>
      ))}
      <div className={cls(styles.line)}>
        <Field label="Claim" isMono value={claim} onChange={setClaim} />
        <Field label="Field of the event" isMono value={path} onChange={setPath} />
        <Button
          isDisabled={claim.trim() === '' || path.trim() === ''}
          onPress={() => onChange({ ...claims, [claim.trim()]: path.trim() })}
        >
          Add the claim
        </Button>
      </div>
    </fieldset>
  );
}
