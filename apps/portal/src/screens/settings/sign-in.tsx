import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, Refusal, type Schemas } from '../../api/client.ts';
import { useIsMeKnown, useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { say, undoing } from '../../ui/notices.ts';
import { Actions, Card, PageBody, Quiet, Row, Rows } from '../../ui/page.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Code, Facts, Id } from '../../ui/text.tsx';
import { AsFile } from '../drafts/as-file.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { IfAllowed, useUnseen } from '../../ui/if-allowed.tsx';
import { peopleQuery } from './people/queries.ts';
import { SettingsHead } from './settings-head.tsx';

const DEPLOYMENT = '/v1/deployment';
type Deployment = Schemas['DeploymentResource'];
type Body = Deployment['body'];
type Provider = NonNullable<NonNullable<Body['sign_in']>['providers']>[number];

/** Null: nobody has written settings of the deployment yet. */
const deploymentQuery = {
  queryKey: [DEPLOYMENT],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Deployment | null> => {
    try {
      // It is asked for as JSON, which the description of two forms cannot say.
      return (await bodyOf(api.GET(DEPLOYMENT, { signal }))) as Deployment;
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) return null;
      throw error;
    }
  },
};

/** The same settings with passwords on or off. */
const withPasswords = (body: Body, isOn: boolean): Body => ({
  ...body,
  sign_in: { ...body.sign_in, passwords: isOn },
});

const seen = (resource: Deployment | null): { readonly [header: string]: string } =>
  resource === null ? { 'if-none-match': '*' } : { 'if-match': `"${resource.number}"` };

/** What writes passwords on or off, over the settings that whoever presses has seen. */
async function setPasswords(resource: Deployment | null, isOn: boolean): Promise<void> {
  const body = withPasswords(resource?.body ?? {}, isOn);
  // What has a default may be left out, which the description of the API cannot say of what is sent.
  await bodyOf(api.PUT(DEPLOYMENT, { headers: seen(resource), body: body as never }));
}
const isOld = (): Promise<unknown> =>
  Promise.all([
    queryClient.invalidateQueries({ queryKey: [DEPLOYMENT] }),
    queryClient.invalidateQueries({ queryKey: ['/v1/sign-in'] }),
  ]);

/** How people prove who they are: by password, and at which identity providers. */
export function SignInSettings(): ReactNode {
  const unseen = useUnseen();
  const isKnown = useIsMeKnown();
  const { data, error, refetch } = useQuery({ ...deploymentQuery, enabled: isKnown && unseen.reason === null });
  return (
    <>
      <SettingsHead title="Sign-in" lead="How people sign in. A link of carillon owner-link always works." />
      <PageBody>
        <IfAllowed {...unseen}>
          {error && <Problem error={error} onRetry={() => void refetch()} />}
          {data === undefined && !error && <Loading what="how people sign in" rows={4} />}
          {data !== undefined && <Ways resource={data} />}
        </IfAllowed>
      </PageBody>
    </>
  );
}

function Ways({ resource }: { readonly resource: Deployment | null }): ReactNode {
  const { portal_url: portal, sign_in: signIn } = resource?.body ?? {};
  const providers = signIn?.providers ?? [];
  return (
    <>
      <Passwords resource={resource} isOn={signIn?.passwords ?? true} providers={providers.length} />
      <Card title="Identity providers">
        <p>
          Identity providers are set in carillon.yaml, under <code>sign_in</code>. They work after{' '}
          <code>npx carillon apply</code>.
        </p>
        {providers.length === 0 ? (
          <p>No identity providers. Nobody can sign in with a company account yet.</p>
        ) : (
          <Rows label="Identity providers">
            {providers.map((provider) => (
              <ProviderRow key={provider.name} provider={provider} portal={portal} />
            ))}
          </Rows>
        )}
      </Card>
      <Card title="Address of the portal">
        <p>
          {portal === undefined
            ? 'carillon.yaml has no portal_url, so invitations are not mailed, and identity providers cannot be used.'
            : 'Start of the links in invitations, and of the way back from an identity provider. Set as portal_url in carillon.yaml.'}
        </p>
        {portal !== undefined && <Code text={portal} what="the address of the portal" />}
      </Card>
      {resource !== null && <AsFile kind="deployment" workspace="" name="" number={resource.number} />}
      <Curl call={{ method: 'GET', path: DEPLOYMENT }} />
    </>
  );
}

function ProviderRow({
  provider,
  portal,
}: {
  readonly provider: Provider;
  readonly portal: string | undefined;
}): ReactNode {
  const { name, title, issuer, client_id: client, allowed_domains: domains, roles = [], session } = provider;
  return (
    <Row>
      <div>
        <h3>{title ?? name}</h3>
        <Facts
          facts={[
            ['Issuer', <Id key="issuer">{issuer}</Id>],
            ['Client', <Id key="client">{client}</Id>],
            ['Redirect URI', portal === undefined ? null : <Id key="back">{`${portal}/sign-in/${name}/callback`}</Id>],
            ['Accepted without an invitation', domains?.map((domain) => `@${domain}`).join(', ')],
            ['Roles by group', roles.length === 0 ? null : roles.map(({ group }) => group).join(', ')],
            ['Sign in again after', session ?? '1d'],
          ]}
        />
      </div>
    </Row>
  );
}

/** Whether address and password sign in, and how many people have nothing else. */
function Passwords({
  resource,
  isOn,
  providers,
}: {
  readonly resource: Deployment | null;
  readonly isOn: boolean;
  readonly providers: number;
}): ReactNode {
  const off = useMay('configure', null);
  const [isAsked, setAsked] = useState(false);
  const people = useQuery({ ...peopleQuery, enabled: isAsked });
  const by = people.data?.items.filter(({ has_password: has, state }) => has && state === 'active').length;
  const change = useMutation({
    mutationFn: () => setPasswords(resource, !isOn),
    onSuccess() {
      setAsked(false);
      say(
        isOn ? 'Nobody can sign in with a password any more.' : 'People can sign in with a password.',
        undoing(
          async () => setPasswords(await queryClient.fetchQuery({ ...deploymentQuery, staleTime: 0 }), isOn),
          isOld,
        ),
      );
    },
    onSettled: isOld,
  });
  const call: Call = {
    method: 'PUT',
    path: DEPLOYMENT,
    headers: seen(resource),
    body: withPasswords(resource?.body ?? {}, !isOn),
  };
  return (
    <Card title="Address and password" beside={<Lamp tone={isOn ? 'good' : 'held'}>{isOn ? 'On' : 'Off'}</Lamp>}>
      <p>
        {isOn
          ? 'People with a password can sign in with it.'
          : 'Passwords are stored but do not work. People sign in with identity providers and owner links.'}
      </p>
      {resource?.origin === 'apply' && (
        <Quiet>
          These settings came from carillon.yaml. Change <code>sign_in.passwords</code> there too, or the next apply
          undoes this.
        </Quiet>
      )}
      {!isOn && change.error && <Problem error={change.error} />}
      <Actions>
        <Button
          off={off}
          isDisabled={change.isPending}
          onPress={() => {
            if (isOn) setAsked(true);
            else change.mutate();
          }}
        >
          {isOn ? 'Switch passwords off…' : 'Switch passwords on'}
        </Button>
      </Actions>
      {!isOn && <Curl call={call} />}
      {isAsked && (
        <Confirm
          title="Switch passwords off?"
          verb="Switch passwords off"
          call={call}
          error={change.error ?? people.error}
          isPending={change.isPending || by === undefined}
          typed={by !== undefined && by > 0 ? String(by) : null}
          onDo={() => change.mutate()}
          onClose={() => setAsked(false)}
        >
          {by === undefined
            ? 'Counting the affected people.'
            : `${by.toLocaleString('en')} ${by === 1 ? 'person has' : 'people have'} a password that will not work any more. People who are signed in stay signed in.`}{' '}
          {providers === 0 && 'No identity provider is set up, so only links of carillon owner-link will work.'}
        </Confirm>
      )}
    </Card>
  );
}
