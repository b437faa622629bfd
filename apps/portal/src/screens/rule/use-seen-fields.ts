import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useIsMeKnown, useMay } from '../../api/me.ts';
import { tablesQuery } from '../sources/queries.ts';
import { columnsOf, fieldsOfColumns } from '../streams/column-fields.ts';
import type { SeenField } from './completion.ts';
import { fieldsQuery } from './queries.ts';
import { isListening, type RuleProps } from './rule-props.ts';

const NONE: readonly SeenField[] = [];

/**
 * Returns the fields that events of a rule's stream were seen to have; before its first change those of the columns of its tables.
 * `isKnown`: the stream is there, with or without fields.
 */
export function useSeenFields({ draft, name, rule, stream }: Omit<RuleProps, 'change'>): {
  readonly fields: readonly SeenField[];
  readonly isKnown: boolean;
} {
  const { workspace } = draft;
  const off = useMay('configure', workspace);
  const isMeKnown = useIsMeKnown();
  const { data } = useQuery(fieldsQuery(workspace, isListening({ draft, name, rule }) ? stream : undefined));
  const source = data?.items.length === 0 ? data.source : null;
  const tables = useQuery({
    ...tablesQuery(workspace, source?.integration ?? ''),
    enabled: source !== null && isMeKnown && off === null,
  }).data?.items;
  const columns = useMemo(
    () => (source === null || tables === undefined ? NONE : fieldsOfColumns(columnsOf(source.tables, tables))),
    [source, tables],
  );
  return { fields: source === null ? (data?.items ?? NONE) : columns, isKnown: data !== undefined };
}
