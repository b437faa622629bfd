import { useMutation } from '@tanstack/react-query';
import { useState, type FormEvent, type ReactNode } from 'react';
import { api, bodyOf, Refusal, type Schemas } from '../../../api/client.ts';
import { useMay } from '../../../api/me.ts';
import { queryClient } from '../../../api/query-client.ts';
import { useUnsaved } from '../../../api/unsaved.ts';
import { Problem } from '../../../ui/answers.tsx';
import { Button } from '../../../ui/button.tsx';
import { cls } from '../../../ui/class-names.ts';
import { Curl } from '../../../ui/curl.tsx';
import { Field } from '../../../ui/field.tsx';
import { Actions, Card } from '../../../ui/page.tsx';
import { say } from '../../../ui/notices.ts';
import styles from '../settings.module.css';
import { Checks } from './checks.tsx';
import { JWT_PROVIDERS, nameFault, type JwtProvider } from './queries.ts';

type Body = Schemas['JwtProviderBodyInput'];
const PATH = '/v1/workspaces/{workspace}/jwt-providers/{name}';
/** Where a check is asked for before the provider has a name. */
const UNNAMED = 'new';

const listOf = (text: string): readonly string[] =>
  text
    .split(/[\s,]+/)
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** What was there stays, but for what this form shows. */
function bodyFrom(before: Partial<Body>, url: string, audiences: string, issuer: string): Body {
  const { audience: _audience, issuer: _issuer, ...kept } = before;
  const [first, ...more] = listOf(audiences);
  return {
    ...kept,
    jwks_url: url.trim(),
    ...(issuer.trim() !== '' && { issuer: issuer.trim() }),
    ...(first !== undefined && { audience: more.length === 0 ? first : [first, ...more] }),
    // What is left out has its default; the description asks for what answers always hold.
  } as Body;
}

/** A provider that is added, or one that is checked and changed. */
export function ProviderForm({
  workspace,
  taken,
  provider,
  off,
  onDone,
}: {
  readonly workspace: string;
  readonly taken: readonly string[];
  /** Null: a new one. */
  readonly provider: JwtProvider | null;
  readonly off: string | null;
  readonly onDone: () => void;
}): ReactNode {
  const [name, setName] = useState(provider?.name ?? '');
  const [url, setUrl] = useState(provider?.jwks_url ?? '');
  const [audience, setAudience] = useState(provider?.audiences.join(' ') ?? '');
  const [issuer, setIssuer] = useState(provider?.issuer ?? '');
  const [token, setToken] = useState('');
  const [isTried, setTried] = useState(false);
  const mayCheck = useMay(['configure', 'operate'], workspace);
  const body = bodyFrom(provider?.body ?? {}, url, audience, issuer);
  const asked = JSON.stringify([body, token.trim()]);

  const check = useMutation({
    mutationFn: async () => {
      const { steps } = await bodyOf(
        api.POST(`${PATH}/check`, {
          params: { path: { workspace, name: name || UNNAMED } },
          body: { settings: body, ...(token.trim() !== '' && { token: token.trim() }) },
        }),
      );
      return { asked, steps };
    },
  });
  const save = useMutation({
    mutationFn: () =>
      bodyOf(
        api.PUT(PATH, {
          params: { path: { workspace, name } },
          headers: provider === null ? { 'if-none-match': '*' } : { 'if-match': `"${provider.number}"` },
          body,
        }),
      ),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: [JWT_PROVIDERS] });
      say(provider === null ? `The provider ${name} is added.` : `The provider ${name} is changed.`);
      onDone();
    },
  });
  const [before] = useState(asked + name);
  useUnsaved('/settings/identity', asked + name !== before && !save.isPending && !save.isSuccess);
  const fault = provider === null ? nameFault(name, taken) : null;
  const urlFault = url.trim() === '' ? 'Enter the URL of the provider’s public JWK set.' : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (off === null && fault === null && urlFault === null && !save.isPending) save.mutate();
  };
  const tryIt = (): void => {
    setTried(true);
    if (urlFault === null) check.mutate();
  };
  const pointer = save.error instanceof Refusal ? save.error.pointer : null;
  const isOld = check.data !== undefined && check.data.asked !== asked;
  return (
    <form className={cls(styles.form)} onSubmit={submit} aria-label="JWT provider">
      <Card title={provider === null ? `A provider of ${workspace}` : `The provider ${provider.name}`}>
        {provider === null && (
          <Field
            label="Name"
            value={name}
            onChange={setName}
            placeholder="auth"
            autoComplete="off"
            autoFocus
            isMono
            note="Used by notifications. a-z, 0-9 and -."
            fault={isTried ? fault : null}
          />
        )}
        <Field
          label="URL of the public JWK set"
          type="url"
          value={url}
          onChange={setUrl}
          placeholder="https://auth.example.com/.well-known/jwks.json"
          autoComplete="off"
          isMono
          note="Carillon reads the public keys from this URL, again when they change."
          fault={pointer?.includes('jwks_url') ? save.error?.message : isTried ? urlFault : null}
        />
        <div className={cls(styles.pair)}>
          <Field
            label="Audience"
            value={audience}
            onChange={setAudience}
            placeholder="https://events.example.com"
            autoComplete="off"
            isMono
            note={
              audience.trim() === ''
                ? 'Without an audience, tokens for other services of the provider are accepted too.'
                : 'The audience (aud) of a token. Separate several with spaces.'
            }
          />
          <Field
            label="Issuer (optional)"
            value={issuer}
            onChange={setIssuer}
            placeholder="https://auth.example.com/"
            autoComplete="off"
            isMono
            note="The exact issuer (iss) of a token."
          />
        </div>
      </Card>
      <Card title="Check API Credentials">
        <p>Reads the keys of the provider now. To check a token too, paste the token; Carillon does not store it.</p>
        <Field
          label="Token to check (optional)"
          value={token}
          onChange={setToken}
          isLong
          placeholder="eyJhbGciOi…"
          autoComplete="off"
        />
        <Actions>
          <Button off={mayCheck} isDisabled={check.isPending} onPress={tryIt}>
            Check API Credentials
          </Button>
          {isOld && <span>The settings changed after this check. Check again.</span>}
        </Actions>
        {check.error && <Problem error={check.error} />}
        {check.data && <Checks steps={check.data.steps} />}
      </Card>
      {save.error && <Problem error={save.error} />}
      <Actions>
        <Button onPress={onDone}>Cancel</Button>
        <Button type="submit" kind="main" off={off} isDisabled={save.isPending}>
          Save
        </Button>
      </Actions>
      <Curl
        calls={[
          {
            method: 'POST',
            path: `/v1/workspaces/${workspace}/jwt-providers/${name || '<name>'}/check`,
            body: { settings: body },
          },
          {
            method: 'PUT',
            path: `/v1/workspaces/${workspace}/jwt-providers/${name || '<name>'}`,
            headers: provider === null ? { 'If-None-Match': '*' } : { 'If-Match': `"${provider.number}"` },
            body,
          },
        ]}
      />
    </form>
  );
}
