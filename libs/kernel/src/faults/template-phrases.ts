import { formMeantOr, meantOr, type FaultPhrases } from './fault-text.ts';

type Code =
  | 'text_empty'
  | 'body_missing'
  | 'html_and_mjml'
  | 'language_invalid'
  | 'language_incomplete'
  | 'template_text'
  | 'partial_unknown'
  | 'layout_incomplete'
  | 'layout_without_body'
  | 'layout_body_escaped'
  | 'layout_body_repeated'
  | 'breaks_template'
  | 'mjml_invalid';

const within = (where: string, quote: (name: string) => string): string => {
  const [kind = '', name = ''] = where.split(' ');
  return where === '' ? '' : `in the ${kind} ${quote(name)}: `;
};
const BODY_ONCE = '{{{body}}} once, where the template’s own text goes';

/** Sentences about templates, layouts and partials. */
export const TEMPLATE_PHRASES: FaultPhrases<Code> = {
  text_empty: ({ part }, { label }) => ({
    message: `${part} is empty`,
    expected: 'a text',
    fix: 'write the text, or remove this part',
    formMessage: `${label}: nothing is written yet`,
    formFix: 'Write it, or remove this part.',
  }),
  body_missing: () => ({
    message: 'the email has no text yet',
    expected: 'html, mjml or text',
    fix: 'write one of them',
    formFix: 'Write it as HTML, MJML or plain text.',
  }),
  html_and_mjml: () => ({
    message: 'the email has both HTML and MJML',
    expected: 'one of the two',
    fix: 'leave out html, or mjml: the HTML is made from the MJML',
    formFix: 'Keep one: the HTML is made from the MJML.',
  }),
  language_invalid: ({ language, meant }, { quote }) => ({
    message: `${quote(language)} is not a language`,
    expected: 'a tag such as de or de-AT',
    fix: meantOr(meant, 'rename it'),
    formFix: formMeantOr(meant, 'Use a code such as de or de-AT.'),
  }),
  language_incomplete: ({ language, part }, { partName, quote }) => ({
    message: `the variant for ${language} has no ${part}, which the template without a language has`,
    expected: `every part of the template in ${language}, so that no message mixes languages`,
    fix: `write its ${part} in ${language}`,
    formMessage: `${quote(language)} has no ${partName('template', part).toLowerCase()} yet, which Default has`,
    formFix: 'Write it, or messages will mix two languages.',
  }),
  template_text: ({ message, fix, within: where }, { quote, remark }) => ({
    message: `${within(where, quote)}${remark(message)}`,
    expected: 'a template that can be rendered',
    fix,
    formFix: remark(fix),
  }),
  partial_unknown: ({ partial, within: where }, { quote, file }) => ({
    message: `${within(where, quote)}there is no partial ${quote(partial)}`,
    expected: 'a template that can be rendered',
    fix: `write ${file('partial', partial)}`,
    formFix: 'Create it, or take it out of the text.',
  }),
  layout_incomplete: ({ layout, part }, { partName, quote, file }) => ({
    message: `the layout ${quote(layout)} has nothing for ${partName('layout', part)}`,
    expected: 'a layout for each body',
    fix: `write ${file('layout', layout, part)}, or take the layout out`,
    formFix: 'Write it in the layout, or choose another layout.',
  }),
  layout_without_body: () => ({
    message: 'the layout does not say where the text of a template goes',
    expected: BODY_ONCE,
    fix: 'write {{{body}}} at that place',
    formFix: 'Write {{{body}}} at that place.',
  }),
  layout_body_escaped: () => ({
    message: 'the text of a template is inserted with three braces',
    expected: BODY_ONCE,
    fix: 'write {{{body}}}; {{body}} is a variable named body',
    formFix: 'Write {{{body}}}: with two, it is a variable of that name.',
  }),
  layout_body_repeated: ({ times }) => ({
    message: `{{{body}}} occurs ${times} times in this layout`,
    expected: BODY_ONCE,
    fix: 'keep one of them',
    formFix: 'Keep one of them.',
  }),
  breaks_template: ({ template, message, fix }, { quote, remark }) => ({
    message: `the template ${quote(template)} could not be rendered with this change: ${remark(message)}`,
    expected: 'a template that can be rendered',
    fix: `${fix}, or change ${template} in the same folder`,
    formFix: 'Change that template as well.',
  }),
  mjml_invalid: ({ message, fix, template }, { quote, remark }) => ({
    message: `${template === '' ? '' : `in the template ${quote(template)}: `}${remark(message)}`,
    expected: 'MJML that can be compiled',
    fix,
    formFix: remark(fix),
  }),
};
