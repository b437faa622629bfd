import type { Rule } from './rule.ts';
import { isTest, pathOf } from './workspace.ts';

/** A sort of thing whose kinds are declared in one place, such as channels. */
type Row = {
  /** Noun for the message: `a channel by its name`. */
  readonly kind: string;
  readonly names: readonly string[];
  /** Source folders that must not contain a name. */
  readonly rooms: RegExp;
  /** Folder of the declarations and of their list, the only place for a name within the rooms. */
  readonly home: string;
  /** Objects with a property per kind: `accounts.email` counts as the name. Defaults to none. */
  readonly tables?: readonly string[];
  /** What to do instead. */
  readonly advice: string;
};

/** One row per sort of thing. To protect the names of another sort, add a row and a case in `code-rules.test.ts`. */
const ROWS: readonly Row[] = [
  {
    kind: 'a channel',
    names: ['email', 'sms', 'push'],
    rooms: /^libs\/(?:domain|ports|stages|insight)\/src\//,
    home: 'libs/domain/src/channels/',
    tables: ['channels', 'body', 'accounts'],
    advice: 'take what differs between channels from libs/domain/src/channels/channel.ts',
  },
];

/** Reports the name of a kind outside the folder that declares it, as a literal or as a property of a table. */
export const kindName: Rule = {
  meta: { type: 'problem' },
  create(context) {
    const path = pathOf(context.filename);
    if (isTest(path)) return {};
    const rows = ROWS.filter(({ rooms, home }) => rooms.test(path) && !path.startsWith(home));
    if (rows.length === 0) return {};
    const check = (
      node: NonNullable<Parameters<typeof context.report>[0]['node']>,
      name: unknown,
      table?: string,
    ): void => {
      for (const { kind, names, tables = [], advice } of rows) {
        if (typeof name !== 'string' || !names.includes(name)) continue;
        if (table !== undefined && !tables.includes(table)) continue;
        context.report({ node, message: `${kind} by its name: ${advice}` });
      }
    };
    return {
      Literal: (node) => check(node, node.value),
      TemplateElement: (node) => check(node, node.value.cooked),
      MemberExpression(node) {
        if (node.computed || node.property.type !== 'Identifier') return;
        check(node, node.property.name, ownerOf(node) ?? '');
      },
    };
  },
};

/** Name of the object whose property is read: `accounts` in `accounts.email` and in `body.accounts.email`. */
function ownerOf(node: { readonly object: { readonly type: string } }): string | undefined {
  const { object } = node as { object: { type: string; name?: string; property?: { name?: string } } };
  return object.type === 'MemberExpression' ? object.property?.name : object.name;
}
