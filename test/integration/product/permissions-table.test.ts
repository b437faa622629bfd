import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { neededBy } from './permissions-table.ts';

type Document = {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly 'x-carillon-permission': string | readonly string[] }>>>
  >;
};
const DESCRIPTION = join(import.meta.dirname, '../../../schemas/openapi/management-api.json');

/** What of the description is not as the table says. */
function differences({ paths }: Document): readonly string[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([name, { 'x-carillon-permission': said }]) => {
      const method = name.toUpperCase();
      const wanted = neededBy(method, path);
      const isSame = JSON.stringify([said].flat()) === JSON.stringify([wanted].flat());
      return isSame ? [] : [`${method} ${path}: ${[said].flat().join(' or ')}, not ${[wanted].flat().join(' or ')}`];
    }),
  );
}

describe('The permission of every operation', () => {
  const document = JSON.parse(readFileSync(DESCRIPTION, 'utf8')) as Document;

  it('is the one that the table written by hand says', () => {
    expect(differences(document)).toEqual([]);
  });

  it('is compared with the table: a changed permission is reported', () => {
    const path = '/v1/workspaces/{workspace}/deliveries/{id}/resend';
    const paths = { ...document.paths, [path]: { post: { 'x-carillon-permission': 'read' } } };
    expect(differences({ paths })).toEqual([`POST ${path}: read, not operate`]);
  });
});
