import { quoted } from './quoted.ts';

/** Where the deployment is that a command was asked about. */
type Place = { readonly url?: string | undefined; readonly dataDir?: string | undefined };

/** A command as texts name it: it ends where something else than words and options follows. */
const COMMAND = /npx carillon [a-z][\w-]*(?: (?:--?[a-z-]+|[\w<][\w./:<>@=+-]*))*/g;
/** Commands that use a folder or address of their own. */
const ELSEWHERE = /^npx carillon (?:up|run|restore|mend)\b|--data-dir|--url/;

/**
 * A text whose commands find the same deployment again: each gets the options that this command was given. A variable of the shell
 * stays set and is not repeated.
 */
export function runnable(text: string, { url, dataDir }: Place): string {
  const options = [
    ...(url === undefined ? [] : [`--url ${quoted(url)}`]),
    ...(dataDir === undefined ? [] : [`--data-dir ${quoted(dataDir)}`]),
  ];
  if (options.length === 0) return text;
  return text.replaceAll(COMMAND, (found) => {
    if (ELSEWHERE.test(found)) return found;
    const [, command = found, end = ''] = /^(.*?)([.:]?)$/.exec(found) ?? [];
    return `${command} ${options.join(' ')}${end}`;
  });
}
