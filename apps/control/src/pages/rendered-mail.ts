import type { FastifyInstance } from 'fastify';
import { openMessage, type MessageContentPorts } from '@carillon/insight';
import { visibleScopeOf } from '../access/visible-scope.ts';
import { audited } from '../audit/facts.ts';
import { notFound } from '../routes/app.ts';
import { MAIL_POLICY, tame } from './pages.ts';

/** The HTML of a delivery's message as its reader would see it, rendered again. */
export function renderedMailRoute(app: FastifyInstance, ports: MessageContentPorts): void {
  const config = { permission: 'bodies', audit: 'content.read', across: true } as const;
  app.get<{ Params: { id: string } }>('/messages/:id/html', { config }, async (request, reply) => {
    const { id } = request.params;
    const content = await openMessage(id, ports);
    const html =
      content && visibleScopeOf(request).sees(content.workspace)
        ? content.parts.find(({ name }) => name === 'html')
        : undefined;
    if (!content || !html) throw notFound(`delivery ${id} whose message has HTML`);
    audited(request, { workspace: content.workspace });
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', MAIL_POLICY)
      .send(tame(html.text));
  });
}
