import { templateOf, type ChannelTemplate } from '@carillon/domain/channels';
import type { EmailTemplate } from '@carillon/domain/configuration';
import { templateSourceOf, type TemplateSource } from '../../src/template-source.ts';

/** An email as configuration holds it, as the renderer takes it. */
export function email(body: EmailTemplate): ChannelTemplate {
  const template = templateOf({ email: body }, 'email');
  if (!template) throw new Error('the table of channels has no email');
  return template;
}
export const emailSheet = (body: EmailTemplate): TemplateSource => templateSourceOf(email(body));
