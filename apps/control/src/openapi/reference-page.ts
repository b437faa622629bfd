import type { ApiDocument, Operation } from './complete-document.ts';
import { ERRORS } from '@carillon/kernel';
import { html, type Markup } from '../pages/markup.ts';
import { pageFrame } from '../pages/page-frame.ts';
import { intakeEntry, intakeSection } from './intake-section.ts';
import { boundWords, referenceOf, typeWords, type Schema } from './schema-text.ts';

type Content = {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;
};
type Parameter = Schema & {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
};
type Placed = { readonly method: string; readonly path: string; readonly operation: Operation };

/** The intake of events and the management API as a page. Only its search needs a script. `eventsUrl`: the base of the intake. */
export function referencePage(document: ApiDocument, eventsUrl: string): string {
  const { title, version, description = '' } = document.info;
  const operations: readonly Placed[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const groups = document.tags.map(({ name }) => ({
    name,
    own: operations.filter(({ operation }) => operation.tags?.includes(name)),
  }));
  const schemas = Object.entries(document.components.schemas);
  return pageFrame(
    title,
    html`<h1>${title} ${version}</h1>
      <p>${description} As a document for programs: <a href="/v1/openapi.json">OpenAPI 3.1</a>.</p>
      <p>
        Every request of the management API carries <code>Authorization: Bearer</code> with the token in the file
        <code>owner-token</code> of the data folder, or the session of this browser. What it needs is said at each
        operation. Every answer that is no success is a <a href="#Problem">problem</a>.
      </p>
      <form role="search" hidden>
        <label for="search">Search operations</label>
        <input id="search" type="search" autocomplete="off" spellcheck="false" aria-controls="operations" />
        <span id="search-status" role="status"></span>
      </form>
      <nav id="operations" class="contents" aria-label="Operations">
        ${contentsOf('Intake of events', 'tag-intake', [intakeEntry(eventsUrl)])}
        ${groups.map(({ name, own }) => contentsOf(name, idOf(name), own.map(entryOf)))}
      </nav>
      ${intakeSection(eventsUrl)}
      ${groups.map(
        ({ name, own }) =>
          html`<section aria-labelledby="${idOf(name)}">
            <h2 id="${idOf(name)}">${name}</h2>
            ${own.map(articleOf)}
          </section>`,
      )}
      <section aria-labelledby="schemas">
        <h2 id="schemas">Bodies</h2>
        ${schemas.map(
          ([name, schema]) =>
            html`<article aria-labelledby="${name}">
              <h3 id="${name}">${name}</h3>
              ${basesOf(schema)} ${tableOf(`Fields of ${name}`, fieldsOf(schema))}
            </article>`,
        )}
      </section>`,
    ['/assets/reference.js'],
  );
}

/** The API document is Markdown: words between backticks are code. */
const withCode = (text: string): readonly Markup[] =>
  text.split('`').map((part, index) => (index % 2 === 0 ? html`${part}` : html`<code>${part}</code>`));

/** Tags are words, and an address takes no spaces. */
const idOf = (tag: string): string => `tag-${tag.toLowerCase().replaceAll(' ', '-')}`;

/** An action that takes nothing has a schema without any field. */
function takesOf(schema: Schema | undefined, operationId: string): Markup {
  const name = schema ? referenceOf(schema) : null;
  if (name !== null) return html`<p>Takes <a href="#${name}">${name}</a>.</p>`;
  const fields = schema ? fieldsOf(schema) : [];
  if (fields.length === 0) return html`<p>Takes nothing.</p>`;
  return html`<p>Takes:</p>
    ${tableOf(`Fields that ${operationId} takes`, fields)}`;
}

type Entry = { readonly id: string; readonly method: string; readonly path: string; readonly summary: string };

const entryOf = ({ method, path, operation: { operationId = '', summary = '' } }: Placed): Entry => ({
  id: operationId,
  method,
  path,
  summary,
});

const contentsOf = (area: string, id: string, entries: readonly Entry[]): Markup =>
  html`<div data-group="${area}">
    <h2><a href="#${id}">${area}</a></h2>
    <ul>
      ${entries.map(
        (entry) =>
          html`<li>
            <a href="#${entry.id}"
              ><code><b>${entry.method}</b> ${entry.path}</code> <span>${withCode(entry.summary)}</span></a
            >
          </li>`,
      )}
    </ul>
  </div>`;

function articleOf({ method, path, operation }: Placed): Markup {
  const { operationId = '', summary = '', parameters = [] } = operation;
  const taken = contentOf(operation.requestBody);
  const [status = '', success] = Object.entries(operation.responses).find(([one]) => one.startsWith('2')) ?? [];
  const given = contentOf(success);
  return html`<article aria-labelledby="${operationId}">
    <h3 id="${operationId}">${withCode(summary)}</h3>
    <p class="call">
      <code><b>${method}</b> ${path}</code> <span class="needs">${permissionWords(operation)}</span>
    </p>
    ${parameters.length === 0 ? '' : parametersOf(parameters as readonly Parameter[], operationId)}
    ${taken === null ? '' : [takesOf(taken.schema, operationId), exampleOf('takes', taken.example)]}
    ${
      given === null
        ? ''
        : html`<p>Answers ${status} with ${given.schema ? typeOf(given.schema) : ''}.</p>
            ${exampleOf('answers', given.example)}`
    }
    ${problemsOf(operation)}
  </article>`;
}

function contentOf(part: Content | undefined): { readonly schema?: Schema; readonly example?: unknown } | null {
  return part?.content?.['application/json'] ?? null;
}

function permissionWords({ 'x-carillon-permission': permission = [] }: Operation): string {
  if (permission === 'anybody') return 'needs no credential';
  return `needs ${typeof permission === 'string' ? permission : permission.join(' or ')}`;
}

const parametersOf = (parameters: readonly Parameter[], operationId: string): Markup =>
  tableOf(
    `Parameters of ${operationId}`,
    parameters.map((one) => ({
      name: one.name,
      schema: { ...one.schema, ...(one.description !== undefined && { description: one.description }) },
      note: `in the ${one.in}${one.required ? '' : ', optional'}`,
    })),
  );

/** The schemas with a name that a body has all of. */
const basesOf = ({ allOf = [] }: Schema): readonly Markup[] =>
  allOf.flatMap((one) => {
    const name = referenceOf(one);
    return name === null ? [] : [html`<p>All of <a href="#${name}">${name}</a>, of which:</p>`];
  });

/**
 * Returns the fields of a body for the reference page. For `anyOf` and `allOf` schemas: the fields of the first variant
 * that is an object.
 */
function fieldsOf(schema: Schema): readonly Row[] {
  const [body = schema] = (schema.anyOf ?? schema.allOf)?.filter(({ properties }) => properties !== undefined) ?? [];
  const { properties = {}, required = [] } = body;
  return Object.entries(properties).map(([name, field]) => ({
    name,
    schema: field,
    note: required.includes(name) ? '' : 'optional',
  }));
}

type Row = { readonly name: string; readonly schema: Schema; readonly note: string };

const tableOf = (caption: string, rows: readonly Row[]): Markup =>
  html`<div class="wide" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">What it says</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(rowOf)}
      </tbody>
    </table>
  </div>`;

function rowOf({ name, schema, note }: Row): Markup {
  const words = [schema.description ?? '', boundWords(schema), note].filter((one) => one !== '').join('; ');
  return html`<tr>
    <th scope="row"><code>${name}</code></th>
    <td>${typeOf(schema)}</td>
    <td>${withCode(words)}</td>
  </tr>`;
}

/** Returns the type of a schema as text, with a link if the schema has a name. */
function typeOf(schema: Schema): Markup {
  const named = referenceOf(schema) ?? (schema.items ? referenceOf(schema.items) : null);
  return named === null ? html`${typeWords(schema)}` : html`<a href="#${named}">${typeWords(schema)}</a>`;
}

const exampleOf = (what: string, example: unknown): Markup =>
  example === undefined
    ? html``
    : html`<details>
        <summary>What it ${what}, for example</summary>
        <pre tabindex="0"><code>${JSON.stringify(example, null, 2)}</code></pre>
      </details>`;

const problemsOf = ({ 'x-carillon-problems': codes = [] }: Operation): Markup =>
  html`<details>
    <summary>Its problems</summary>
    <ul>
      ${codes.map((code) => html`<li>${ERRORS[code].status} <code>${code}</code>: ${ERRORS[code].title}</li>`)}
    </ul>
  </details>`;
