import {
  ALLOW_ALL,
  decisionsOf,
  offersOf,
  oneClick,
  readConsentLink,
  STOP_ALL,
  type ConsentLink,
  type Consents,
  type Decision,
} from '@carillon/domain/consent';
import { messageOf } from '@carillon/kernel';
import { decideConsents, publishConsents } from '@carillon/stages';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  askPage,
  PAGE_HEADERS,
  preferencesPage,
  stoppedPage,
  tooManyPage,
  troublePage,
  unknownPage,
  type PageFacts,
} from './consent-page.ts';
import { strangerOf, type IntakeAdmission } from './intake-admission.ts';
import { createLinkRates } from './link-rates.ts';
import type { GatewayPorts } from './ports.ts';
import { readBody } from './request-body.ts';

const UNSUBSCRIBE = '/unsubscribe/:token';
const PREFERENCES = '/preferences/:token';
type LinkRequest = FastifyRequest<{ Params: { token: string } }>;

/** The form of the page, and what mail programs post, are far smaller. */
const MAX_BYTES = 64 * 1024;

/** A page with its status: 200 unless it says otherwise. */
type Answer = { readonly status: number; readonly page: string };
const shown = (page: string): Answer => ({ status: 200, page });

/**
 * Serves the links of messages (docs/internals/evidence.md). A POST to `/unsubscribe/<token>` opts out without login,
 * cookie or required body (RFC 8058). GET and HEAD only show a page, because scanners follow links.
 * `/preferences/<token>` shows all choices. A choice is stored before the page confirms it. The links work even while
 * the configuration cannot be read, so that opting out never has to wait.
 */
export function serveConsentLinks(app: FastifyInstance, ports: GatewayPorts, { unproved }: IntakeAdmission): void {
  const { clock, consents, configuration, links, telemetry } = ports;
  const rates = createLinkRates();

  async function decide(link: ConsentLink, decisions: readonly Decision[]): Promise<void> {
    if (link.test || decisions.length === 0) return;
    const document = await decideConsents(link.workspace, link.person, decisions, ports);
    // The store has it, and the sweeper of the delivery role appends what this does not.
    if (document)
      publishConsents([document], ports).catch((error: unknown) => telemetry?.trouble('tell consents', error));
  }

  async function factsOf(link: ConsentLink, token: string): Promise<PageFacts> {
    const current = configuration.current();
    // Links of test messages show no choices, because the sender of a test may not see them.
    const documents: readonly Consents[] = link.test ? [] : await consents.find(link.workspace, [link.person]);
    return { link, token, configuration: current, offers: offersOf(current, link), documents };
  }

  async function preferred(link: ConsentLink, form: URLSearchParams): Promise<void> {
    const what = form.get('do');
    if (what === 'stop') return decide(link, [STOP_ALL]);
    if (what === 'allow') return decide(link, ALLOW_ALL);
    if (what !== 'save') return;
    const offers = offersOf(configuration.current(), link);
    return decide(link, decisionsOf(offers, new Set(form.getAll('shown')), new Set(form.getAll('want'))));
  }

  /** Validates the link of the request, calls `answer` and sends the resulting page. Errors are sent as pages too. */
  async function serve(
    request: LinkRequest,
    reply: FastifyReply,
    answer: (link: ConsentLink, token: string) => Promise<Answer>,
  ): Promise<FastifyReply> {
    const { status, page } = await answered(request, answer);
    if (status === 429) reply.header('retry-after', '60');
    return reply.code(status).headers(PAGE_HEADERS).send(page);
  }

  async function answered(
    request: LinkRequest,
    answer: (link: ConsentLink, token: string) => Promise<Answer>,
  ): Promise<Answer> {
    const { token } = request.params;
    const text = links.open(token);
    const link = text === null ? null : readConsentLink(text);
    const payer = link ? `person ${link.workspace} ${link.person}` : `address ${request.ip}`;
    if (!rates.take(payer, clock.now())) return { status: 429, page: tooManyPage() };
    if (!link) return { status: 404, page: unknownPage() };
    try {
      return await answer(link, token);
    } catch (error) {
      telemetry?.trouble('answer a link of a message', messageOf(error));
      return { status: 503, page: troublePage() };
    }
  }

  async function bodyOf(request: LinkRequest, reply: FastifyReply): Promise<string> {
    const permit = unproved.enter(strangerOf(request, ''));
    try {
      return Buffer.from(await readBody(request.raw, MAX_BYTES, permit, reply.raw)).toString('utf8');
    } finally {
      permit.release();
    }
  }

  // HEAD is answered as GET is, without the page.
  app.get<{ Params: { token: string } }>(UNSUBSCRIBE, (request, reply) =>
    serve(request, reply, async (link, token) => shown(askPage(await factsOf(link, token)))),
  );
  app.post<{ Params: { token: string } }>(UNSUBSCRIBE, (request, reply) =>
    serve(request, reply, async (link, token) => {
      await bodyOf(request, reply);
      await decide(link, [oneClick(link)]);
      return shown(stoppedPage(await factsOf(link, token)));
    }),
  );
  app.get<{ Params: { token: string } }>(PREFERENCES, (request, reply) =>
    serve(request, reply, async (link, token) => shown(preferencesPage(await factsOf(link, token), false))),
  );
  app.post<{ Params: { token: string } }>(PREFERENCES, (request, reply) =>
    serve(request, reply, async (link, token) => {
      await preferred(link, new URLSearchParams(await bodyOf(request, reply)));
      return shown(preferencesPage(await factsOf(link, token), true));
    }),
  );
}
