import { formMeantOr, meantOr, orElse, type FaultPhrases } from './fault-text.ts';

type Code =
  | 'missing'
  | 'unknown_setting'
  | 'name_invalid'
  | 'value_invalid'
  | 'secret_written_out'
  | 'planned'
  | 'always_kept'
  | 'read_at_start'
  | 'nested_too_deeply'
  | 'half_character'
  | 'control_characters'
  | 'not_a_body'
  | 'given_twice'
  | 'workspace_unknown'
  | 'reference_unknown'
  | 'still_needed'
  | 'put_and_removed';

/** Returns what a form expects, or an empty text if the expectation is about the syntax of a file. */
function formExpectation(expected: string, remark: (text: string) => string): string {
  if (expected === 'text' || /[{}]|keys and values|[a-z]_[a-z]|\bwrite\b|authorization/.test(expected)) return '';
  const text = remark(expected.replace(' (CEL)', '').replace(', in quotes', '').replace('sms', 'SMS'));
  return text === '' ? '' : `Enter ${text}.`;
}

/** What to write in a file instead of a value of the wrong type, by the `type` fact. */
const TYPE_FIXES: Readonly<Record<string, string>> = {
  list: 'write a list: [a, b]',
  number: 'write the number without quotes',
  boolean: 'write true or false without quotes',
  group: 'write keys and values, each on a line of its own, indented',
  option: 'write one of these',
  text: 'write text',
};

/** Sentences about the shape of a body, and about names that it uses. */
export const BODY_PHRASES: FaultPhrases<Code> = {
  missing: ({ expected }, { label, remark }) => ({
    message: `${label} is missing`,
    expected,
    fix: `add ${label}: …`,
    formMessage: `${label}: not filled in yet`,
    formFix: formExpectation(expected, remark),
  }),
  unknown_setting: ({ setting, meant, known }, { quote }) => ({
    message: `there is no setting ${quote(setting)} here`,
    expected: known,
    fix: meantOr(meant, `remove ${setting}`),
    formFix: formMeantOr(meant, 'Remove it.'),
  }),
  name_invalid: ({ name, expected }) => ({
    message: `the name ${JSON.stringify(name)} cannot be used`,
    expected,
    fix: 'choose another name',
    formMessage: `the name “${name}” cannot be used`,
    formFix: 'Use small letters, digits and hyphens.',
  }),
  value_invalid: ({ found, expected, meant, type }, { label, quote, remark }) => ({
    message: `${found} does not fit`,
    expected,
    fix: meantOr(meant, type === 'scalar' ? `put it in quotes: "${found}"` : (TYPE_FIXES[type] ?? 'change it')),
    formMessage: `${label}: ${/^(?:a list|a group of keys)$/.test(found) ? 'this' : quote(found)} does not fit`,
    formFix: formMeantOr(meant, formExpectation(expected, remark)),
  }),
  secret_written_out: ({ example }, { label }) => ({
    message: 'a secret must not be written into a file',
    expected: 'a reference to a secret',
    fix: `write ${label}: { secret: ${example} } and run: npx carillon secret set ${example} (with --deployment for an account of carillon.yaml)`,
    formMessage: `${label}: the secret itself is not kept here`,
    formFix: 'Set it as a secret, so that nobody can read it.',
  }),
  planned: ({ what }, { label }) => ({
    message: `${label} comes in a later version (${what})`,
    expected: 'settings of this version',
    fix: 'remove it until then',
    formMessage: `not in this version yet (${what})`,
    formFix: 'Remove it until then.',
  }),
  always_kept: ({ topic }) => ({
    message: `carillon.${topic} is always kept`,
    expected: 'another topic',
    fix:
      topic === 'consents'
        ? 'remove it: opt-outs have to outlive everything'
        : 'remove it: each event is explained by the configuration of its time',
    formFix: 'Remove it.',
  }),
  read_at_start: ({ setting, known }, { quote }) => ({
    message: `${quote(setting)} is read when Carillon starts and cannot be changed here`,
    expected: known,
    fix: `write ${setting} into the carillon.yaml that the process is started with`,
    formFix: 'Ask the operator of Carillon.',
  }),
  nested_too_deeply: ({ most }) => ({
    message: `nested more than ${most} levels deep`,
    expected: `at most ${most} levels`,
    fix: 'remove levels',
    formFix: 'Remove levels.',
  }),
  half_character: (_facts, { label }) => ({
    message: 'a character is incomplete, so no file can hold it',
    expected: 'whole characters',
    fix: 'write the text again',
    formMessage: `${label}: a character is incomplete`,
    formFix: 'Type the text again.',
  }),
  control_characters: ({ why }) => ({
    message: `the body changes when it is written to a file and read again${why === '' ? '' : `: ${why}`}`,
    expected: 'text without control characters',
    fix: 'replace control characters by ordinary text',
    formMessage: 'the text has characters that cannot be shown',
    formFix: 'Type it again instead of pasting it.',
  }),
  not_a_body: (_facts, { label }) => ({
    message: 'this is not the body of a resource',
    expected: 'keys and values',
    fix: 'send a JSON object',
    formMessage: `${label} is not readable`,
    formFix: 'Discard the draft and begin again.',
  }),
  given_twice: (_facts, { label }) => ({
    message: `${label} is listed twice`,
    expected: 'each resource once',
    fix: 'remove one of the two',
    formFix: 'Leave one of them out.',
  }),
  workspace_unknown: ({ workspace }, { quote, file }) => ({
    message: `there is no workspace ${quote(workspace)}`,
    expected: 'the name of a workspace',
    fix: `write ${file('workspace', workspace)}, or correct the name`,
    formFix: 'Create it first, or choose another.',
  }),
  reference_unknown: ({ kind, name, meant, known }, { quote, kindName, file }) => ({
    message: `there is no ${kindName(kind)} ${quote(name)}`,
    expected: orElse(known, `the name of a ${kindName(kind)}`),
    fix: meantOr(meant, `write ${file(kind, name)}`),
    ...(name === '' && { formMessage: `no ${kindName(kind)} is chosen yet` }),
    formFix: formMeantOr(meant, name === '' ? 'Choose one.' : 'Create it, or choose another.'),
  }),
  still_needed: ({ kind, name }, { quote, kindName }) => ({
    message: `the ${kindName(kind)} ${quote(name)} would be removed and is needed here`,
    expected: `a ${kindName(kind)} that stays`,
    fix: `keep ${name}, or name another`,
    formFix: 'Keep it, or choose another.',
  }),
  put_and_removed: (_facts, { label }) => ({
    message: `${label} is both changed and removed`,
    expected: 'one of the two',
    fix: 'remove one of the two',
    formFix: 'Leave one of them out.',
  }),
};
