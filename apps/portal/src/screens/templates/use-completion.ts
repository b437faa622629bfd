import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Complete } from '../../ui/code-words.ts';
import { notificationsQuery } from '../notifications/queries.ts';
import type { SeenField } from '../rule/completion.ts';
import { answerFieldsQuery, partialsQuery } from './queries.ts';
import { completeTemplate, type Nameable } from './template-completion.ts';
import { givenTo } from './users.ts';

/** What could stand at the caret of any part of a template: what its events have, what its rules and their partners give, helpers. */
export function useCompletion(workspace: string, template: string, fields: readonly SeenField[]): Complete {
  const { data: notifications } = useQuery(notificationsQuery(workspace));
  const { data: shelf } = useQuery(partialsQuery(workspace));
  const { variables: given, partners } = useMemo(
    () => givenTo(notifications?.items ?? [], template),
    [notifications, template],
  );
  const answers = useQueries({
    queries: partners.map((partner) => answerFieldsQuery(workspace, partner)),
    combine: allAnswers,
  });
  return useMemo(
    () => completeTemplate({ fields, given, answers, partials: (shelf?.items ?? []).map(({ name }) => name) }),
    [fields, given, answers, shelf],
  );
}

type Answered = {
  readonly integration: string;
  readonly items: readonly Omit<Nameable['answers'][number], 'by'>[];
};

const allAnswers = (results: readonly { readonly data: Answered | undefined }[]): Nameable['answers'] =>
  results.flatMap(({ data }) => (data?.items ?? []).map((one) => ({ ...one, by: data?.integration ?? '' })));
