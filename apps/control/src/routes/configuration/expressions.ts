import { similarTo } from '@carillon/kernel';
import { expressionCheckBody, expressionCheckRequest, type ExpressionCheckBody } from '@carillon/contracts';
import { pathText } from '@carillon/domain/events';
import type { FieldReference } from '@carillon/domain/rules';
import { mergeFields, type StreamField } from '@carillon/stages';
import { visibleScopeOf } from '../../access/visible-scope.ts';
import type { ControlPorts } from '../../ports.ts';
import { inWorkspace, type ApiServer } from '../app.ts';
import { streamPath } from './streams.ts';

/** Routes for an expression while a person types it: its faults, its form, and fields that no event has. */
export function expressionRoutes(
  app: ApiServer,
  ports: Pick<ControlPorts, 'configuration' | 'readModels' | 'expressions'>,
): void {
  app.post(
    '/v1/workspaces/:workspace/expressions/check',
    {
      config: { permission: 'read', audit: false, problems: ['not_found'] },
      schema: {
        operationId: 'checkExpression',
        tags: ['Rules'],
        summary: 'Checks an expression and converts it to and from its form. Stores nothing',
        params: inWorkspace,
        body: expressionCheckRequest,
        response: { 200: expressionCheckBody },
      },
    },
    async (request): Promise<ExpressionCheckBody> => {
      const { place, stream, change } = request.body;
      const given = request.body.source;
      const path = stream && streamPath(stream, visibleScopeOf(request), ports.configuration.current());
      const changed = change ? ports.expressions.change(given, place, change) : null;
      if (changed && !changed.ok) return refused(given, changed.error);
      const source = changed?.value ?? given;
      const compiled = ports.expressions.compile(source, place);
      if (!compiled.ok) return refused(source, compiled.error);
      const expression = compiled.value;
      const { match, conditions } = expression.form();
      return {
        source,
        faults: [],
        form: { match, conditions: [...conditions] } as ExpressionCheckBody['form'],
        parts: [...expression.parts()],
        fields: expression.fields.map(({ root, path: name, type, dynamic }) => ({ root, path: name, type, dynamic })),
        warnings: path ? warningsOf(expression.fields, path, mergeFields(await ports.readModels.fields(path))) : [],
      };
    },
  );
}

const refused = (source: string, faults: readonly ExpressionCheckBody['faults'][number][]): ExpressionCheckBody => ({
  source,
  faults: [...faults],
  form: null,
  parts: [],
  fields: [],
  warnings: [],
});

/** Warnings about fields and types that no event had. A stream without events gets none. */
function warningsOf(
  fields: readonly FieldReference[],
  stream: string,
  seen: readonly StreamField[],
): ExpressionCheckBody['warnings'] {
  if (seen.length === 0) return [];
  const known = new Map(seen.map((field) => [field.path, field]));
  return fields.flatMap(({ root, steps, type, dynamic }) => {
    // Events are counted by element, not by its place in a list.
    const path = pathText(steps.map((step) => (typeof step === 'number' ? null : step)));
    if (root !== 'event' || path === '' || dynamic) return [];
    const field = known.get(path);
    if (!field) {
      const nearest = similarTo(path, [...known.keys()]);
      return [{ path, message: `no known event of ${stream} has ${path}`, nearest }];
    }
    if (type === null || field.types.includes(type)) return [];
    const message = `${path} was never ${type} in ${stream}: it was ${field.types.join(', ')}`;
    return [{ path, message, nearest: null }];
  });
}
