import type { JsonObject } from '@carillon/kernel';
import {
  findResource,
  localityOf,
  templateOf,
  type ChannelTemplate,
  type Delivery,
  type WrongLocality,
} from '@carillon/domain';
import type { ConfigurationView, Rendered, TemplateRenderer } from '@carillon/ports';

export type RenderingPorts = {
  readonly configuration: Pick<ConfigurationView, 'at'>;
  readonly templates: Pick<TemplateRenderer, 'render'>;
};

/** A message before anybody is named as its sender; else why there is none, in a sentence for people. */
export type PinnedRendering =
  | (Extract<Rendered, { readonly ok: true }> & {
      /** As it was written. */
      readonly template: ChannelTemplate;
      /** What the recipient's own time zone and language were said to be, and are not. */
      readonly wrong: readonly WrongLocality[];
    })
  | { readonly ok: false; readonly why: string };

/**
 * Renders the message of a delivery from what was recorded when its event was judged: the template's version of then and
 * the variables of the intent. `own` are ours, and come last: an event cannot put its own address in the place of the one that stops messages. So it comes to the same whenever it is done.
 */
export async function renderPinned(
  { intent, slot }: Pick<Delivery, 'intent' | 'slot'>,
  own: JsonObject,
  ports: RenderingPorts,
): Promise<PinnedRendering> {
  const pinned = await ports.configuration.at(intent.configNumber);
  const template = findResource(pinned, 'template', slot.workspace, intent.template);
  if (!template) return { ok: false, why: `there was no template ${intent.template} when the event was judged` };
  const key = `${slot.workspace}/${intent.template}@${template.number}`;
  const written = templateOf(template.body, slot.channel);
  if (!written) return { ok: false, why: `template ${intent.template} had nothing for ${slot.channel}` };
  const { locality, wrong } = localityOf(pinned, slot.workspace, intent.variables);
  const rendered = await ports.templates.render(key, written, { ...intent.variables, ...own }, locality);
  return rendered.ok
    ? { ...rendered, template: written, wrong }
    : { ok: false, why: `${rendered.part}: ${rendered.message}` };
}
