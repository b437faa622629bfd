import type { Configuration, TemplateBody } from '@carillon/domain';
import { resourceKey } from '@carillon/domain';
import { Document, isScalar, Scalar, stringify } from 'yaml';
import { fileOf } from './layout.ts';
import { isExpressionLeaf } from '@carillon/shapes';
import { FILE_SHAPES, type FileKind } from '@carillon/shapes';
import { walkShape } from './walk-shape.ts';

/**
 * The folder that reads back as this configuration: ids and paths written, keys in the order of the reference,
 * expressions plain where YAML allows and else after `|`. Comments of the author are not kept; API keys are not written.
 */
export function writeConfigurationFolder(configuration: Configuration): Map<string, string> {
  const files = new Map<string, string>();
  const resources = [...configuration.resources.values()].toSorted((a, b) =>
    resourceKey(a.ref) < resourceKey(b.ref) ? -1 : 1,
  );
  for (const { ref, body } of resources) {
    const { kind, workspace, name } = ref;
    switch (kind) {
      case 'api_key':
        break;
      case 'template':
        writeTemplate(files, workspace, name, body as TemplateBody);
        break;
      case 'jwt_provider':
        files.set(fileOf('jwt-provider', workspace, name), yamlOf('jwt-provider', body));
        break;
      case 'deployment':
      case 'workspace':
      case 'stream':
      case 'notification':
      case 'account':
      case 'integration':
        files.set(fileOf(kind, workspace, name), yamlOf(kind, body));
    }
  }
  return files;
}

function writeTemplate(files: Map<string, string>, workspace: string, name: string, { email }: TemplateBody): void {
  const { html, text, ...rest } = email;
  const file = fileOf('email-template', workspace, name);
  const folder = file.slice(0, -'email.yaml'.length);
  files.set(file, yamlOf('email-template', rest));
  if (html !== undefined) files.set(`${folder}email.html`, html);
  if (text !== undefined) files.set(`${folder}email.txt`, text);
}

/** The document of a body: an expression that YAML would quote goes after `|`, where it stands as it is. */
function yamlOf(kind: FileKind, body: unknown): string {
  const document = new Document(body);
  const ordered = walkShape(FILE_SHAPES[kind], body, (schema, value) => {
    const scalar = document.createNode(value);
    if (isExpressionLeaf(schema) && isScalar(scalar) && isQuoted(String(value))) scalar.type = Scalar.BLOCK_LITERAL;
    return scalar;
  });
  document.contents = document.createNode(ordered);
  return document.toString({ lineWidth: 0 });
}

const isQuoted = (text: string): boolean => /^["'|>]/.test(stringify(text, { lineWidth: 0 }));
