import { signInWays } from '@carillon/contracts';
import { signInOf } from '@carillon/domain/configuration';
import { ERRORS, isCarillonError } from '@carillon/kernel';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../../access/access.ts';
import { createProviderSignIn, type ProviderPorts } from '../../access/providers/provider-sign-in.ts';
import { audited, digestOf } from '../../audit/facts.ts';
import { pageFrame } from '../../pages/page-frame.ts';
import { html, type Markup } from '../../pages/markup.ts';
import { sendText } from '../../pages/pages.ts';
import type { ApiServer } from '../app.ts';

/** Route with the data of the sign-in page, for anonymous callers. */
export function signInRoute(app: ApiServer, { configuration }: Pick<ProviderPorts, 'configuration'>): void {
  app.get(
    '/v1/sign-in',
    {
      config: { permission: 'anybody' },
      schema: {
        operationId: 'listSignInWays',
        tags: ['Sessions'],
        summary: 'How people sign in: by password, and at which identity providers',
        response: { 200: signInWays },
      },
    },
    async () => {
      const { passwords, providers } = signInOf(configuration.current());
      return {
        passwords,
        providers: providers.map(({ name, title }) => ({ name, title: title ?? name, begin: `/sign-in/${name}` })),
      };
    },
  );
}

type OfProvider = { Params: { provider: string }; Querystring: Readonly<Record<string, unknown>> };

/** Pages on the way to an identity provider and back. A browser goes from one to the next without a script. */
export function providerPages(app: FastifyInstance, access: Access, ports: ProviderPorts): void {
  const signIn = createProviderSignIn(access, ports);

  app.get<OfProvider>('/sign-in/:provider', { config: { permission: 'anybody' } }, async (request, reply) => {
    const { to } = request.query;
    try {
      const begun = await signIn.begin(request.params.provider, typeof to === 'string' ? to : '/', request);
      return await reply.code(303).header('set-cookie', begun.cookie).header('location', begun.location).send();
    } catch (error) {
      return refuse(error, reply, request);
    }
  });

  const config = { permission: 'anybody', audit: 'session.open' } as const;
  app.get<OfProvider>('/sign-in/:provider/callback', { config }, async (request, reply) => {
    // The cookie is used once, whatever the result.
    void reply.header('set-cookie', signIn.forget(request));
    try {
      const [, query = ''] = /\?(.*)$/s.exec(request.url) ?? [];
      const { to, personId, opened, roles } = await signIn.comeBack(request.params.provider, query, request);
      audited(request, {
        actor: { kind: 'person', id: personId },
        target: personId,
        ...(!opened && { what: 'person.credentials' }),
        ...(roles && { before: digestOf(rolesOf(roles.before)), after: digestOf(rolesOf(roles.after)) }),
      });
      if (opened) void reply.header('set-cookie', opened.cookie);
      // The browser came from another site, so it would not send the Strict cookie with a redirect; this page goes on by itself.
      const page = html`<h1>You are signed in</h1>
        <p><a href="${to}">Go on</a></p>`;
      return await sendText(reply.header('refresh', `0;url=${to}`), pageFrame('Signed in', page));
    } catch (error) {
      return refuse(error, reply, request);
    }
  });
}

const rolesOf = (memberships: readonly { readonly workspace: string; readonly role: string }[]) =>
  memberships.map(({ workspace, role }) => ({ workspace, role }));

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** Sends a refusal as a page, because the reader uses a browser. */
function refuse(error: unknown, reply: FastifyReply, request: FastifyRequest): FastifyReply {
  if (!isCarillonError(error)) throw error;
  const { status, title } = ERRORS[error.code];
  audited(request, { code: error.code });
  const page: Markup = html`<h1>${title}</h1>
    <p>${sentence(error.detail)}</p>
    <p><a href="/sign-in">Back to the sign-in</a></p>
    <p><small>Request ${request.id}</small></p>`;
  return sendText(reply.code(status), pageFrame('Not signed in', page));
}
