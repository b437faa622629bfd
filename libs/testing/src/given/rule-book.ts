import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createRuleBook, type RuleBook } from '@carillon/stages';
import { compileGiven } from './rules.ts';

/** A rule book over the product's expression language and template names; rendering is not part of it. */
export function givenRuleBook(): RuleBook {
  const templates = createTemplateRenderer();
  return createRuleBook(compileGiven, templates);
}
