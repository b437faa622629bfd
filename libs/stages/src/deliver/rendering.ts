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

/** A rendered message without sender, or the reason why it cannot be rendered. */
export type PinnedRendering =
  | (Extract<Rendered, { readonly ok: true }> & {
      /** The template as written. */
      readonly template: ChannelTemplate;
      /** Invalid values of the recipient's time zone and language. */
      readonly wrong: readonly WrongLocality[];
      /** Language of the message and why, as text. Null if the template has no languages. */
      readonly language: string | null;
    })
  | { readonly ok: false; readonly why: string };

/**
 * Renders a delivery's message from the versions pinned in its intent: template, layout, partials and variables. The
 * result is therefore the same at any time. `own` variables are set last, so that an event cannot replace our
 * unsubscribe link.
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
