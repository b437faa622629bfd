import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { notFound, withName } from '../routes/app.ts';
import { previewTemplate, type TemplatePorts } from '../routes/configuration/templates.ts';
import { MAIL_POLICY, tame } from './pages.ts';

/** In characters: an address that is longer is refused by servers in between. Of a larger event the id is given. */
const LONGEST = 8_000;

/** Query parameters, because a sandboxed frame can only take its URL. */
const previewed = z.object({
  event: z.string().max(LONGEST).optional(),
  event_id: z.string().max(100).optional(),
  locale: z.string().max(100).optional(),
  time_zone: z.string().max(100).optional(),
  items: z.coerce.number().int().min(0).max(500).optional(),
  drafts: z.literal('true').optional(),
  pictures: z.literal('off').optional(),
  /** Ignored by the server. The portal changes the value after each save so that the browser loads the frame again. */
  of: z.string().max(100).optional(),
});

/** The HTML of a template with an event, as its reader would see it, for the frame of its editor. */
export function previewPage(app: FastifyInstance, ports: TemplatePorts): void {
  const config = { permission: 'read' } as const;
  app
    .withTypeProvider<ZodTypeProvider>()
    .get(
      '/previews/:workspace/:name/html',
      { config, schema: { params: withName, querystring: previewed, hide: true } },
      async (request, reply) => {
        const { drafts, pictures, of: _, ...asked } = request.query;
        const wanted = { ...asked, channel: 'email', drafts: drafts === 'true' } as const;
        const { messages } = await previewTemplate(request.params, wanted, request, ports);
        const html = messages[0]?.html ?? null;
        if (html === null) throw notFound(`HTML of template ${request.params.name}`);
        return reply
          .header('content-type', 'text/html; charset=utf-8')
          .header(
            'content-security-policy',
            pictures === 'off' ? MAIL_POLICY.replace('img-src data:', "img-src 'none'") : MAIL_POLICY,
          )
          .send(tame(html));
      },
    );
}
