import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createMjmlCompiler } from '@carillon/adapter-mjml';
import { templateOf } from '@carillon/domain/channels';
import type { TemplateNeeds } from '@carillon/insight';
import type { MjmlCompiler, TemplateRenderer } from '@carillon/ports';
import { createRuleBook, type RuleBook } from '@carillon/stages';
import { compileGiven } from './rules.ts';

/** A rule book over the product's expression language and template names; rendering is not part of it. */
export function givenRuleBook(): RuleBook {
  const templates = createTemplateRenderer();
  return createRuleBook(compileGiven, templates);
}

export const givenTemplates = (): TemplateRenderer => createTemplateRenderer();

/** The product's compiler of MJML. */
export const givenMjml = (): MjmlCompiler => createMjmlCompiler();

/** Returns the fields that a template with this text needs, as the product's renderer lists them. */
export function givenTemplateNeeds(text: string): TemplateNeeds {
  const templates = createTemplateRenderer();
  const email = templateOf({ email: { subject: '', text } }, 'email');
  return email ? { fields: templates.fields(email), all: templates.names(email).all } : { fields: [], all: false };
}
