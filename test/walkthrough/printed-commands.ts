/**
 * The commands that a text prints, word for word, each once. One ends with its line, or where a sentence, a bracket or a wide gap
 * ends it: what else follows is taken for its words, as a person would copy it, and then it does not run. Those with a
 * place for what only a person knows (`<the id>`, FILE) are no commands yet.
 */
export function printedCommands(texts: readonly string[]): readonly (readonly string[])[] {
  const lines = texts.flatMap((text) => [...text.matchAll(/npx carillon ([^\n]+)/g)].map(([, rest = '']) => rest));
  const commands = lines.flatMap((line) => line.split(/\bnpx carillon /)).map(commandOf);
  const whole = commands.filter((words) => words.length > 0 && !words.some(isPlace));
  return [...new Map(whole.map((words) => [words.join('\0'), words])).values()];
}

/** `<the id it answered>`, `FILE`: to be filled in. */
const isPlace = (word: string): boolean => /^<|^[A-Z_]{2,}$/.test(word);

/** The words of a shell, up to where the command ends. */
function commandOf(line: string): readonly string[] {
  const words: string[] = [];
  const rest = line.split(/ {2,}|[.;,:)](?:\s|$)/, 1)[0] ?? '';
  for (const [, single, double, plain] of rest.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)) {
    words.push(single ?? double ?? plain ?? '');
  }
  return words;
}
