import type { JsonObject } from '@carillon/kernel';
import type { ChannelTemplate } from '@carillon/domain/channels';
import type { WrongLocality } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import { templateForReader } from '@carillon/domain/templates';
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
      /** In which language it is and why, in words; null of a template that has no languages. */
      readonly language: string | null;
    })
  | { readonly ok: false; readonly why: string };

/**
 * Renders the message of a delivery from what was recorded when its event was judged: the template's version of then with
 * the layout and partials of then, and the variables of the intent. `own` are ours, and come last: an event cannot put its own address in the place of the one that stops messages. So it comes to the same whenever it is done.
 */
export async function renderPinned(
  { intent, slot }: Pick<Delivery, 'intent' | 'slot'>,
  own: JsonObject,
  ports: RenderingPorts,
): Promise<PinnedRendering> {
  const pinned = await ports.configuration.at(intent.configNumber);
  const { workspace, channel } = slot;
  const found = templateForReader(pinned, workspace, intent.template, channel, intent.variables);
  if (!found) return { ok: false, why: `there was no template ${intent.template} when the event was evaluated` };
  const { chosen, locality, wrong, language } = found;
  if (!chosen) return { ok: false, why: `template ${intent.template} had nothing for ${channel}` };
  if (chosen.fault !== null) return { ok: false, why: chosen.fault };
  const { key, template } = chosen;
  const rendered = await ports.templates.render(key, template, { ...intent.variables, ...own }, locality);
  return rendered.ok
    ? { ...rendered, template, wrong, language }
    : { ok: false, why: `${rendered.part}: ${rendered.message}` };
}
