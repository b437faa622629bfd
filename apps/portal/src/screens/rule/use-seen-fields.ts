import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useIsMeKnown, useMay } from '../../api/me.ts';
import { tablesQuery } from '../sources/queries.ts';
import { columnsOf, fieldsOfColumns } from '../streams/column-fields.ts';
import type { SeenField } from './completion.ts';
import { fieldsQuery } from './queries.ts';
import { isListening, type RuleProps } from './rule-props.ts';

const NONE: readonly SeenField[] = [];

type SeenFields = {
  readonly fields: readonly SeenField[];
  /** The stream is there, with or without fields. */
  readonly isKnown: boolean;
};

/** Returns the fields that events of a rule's stream were seen to have. */
export const useSeenFields = ({ draft, name, rule, stream }: Omit<RuleProps, 'change'>): SeenFields =>
  useFieldsOf(draft.workspace, isListening({ draft, name, rule }) ? stream : undefined);

/**
 * Returns the fields that events of a stream were seen to have; before its first change those of the columns of its tables.
 * `stream` is its path, or undefined if it is not published.
 */
export function useFieldsOf(workspace: string, stream: string | undefined): SeenFields {
  const off = useMay('configure', workspace);
  const isMeKnown = useIsMeKnown();
  const { data } = useQuery(fieldsQuery(workspace, stream));
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
