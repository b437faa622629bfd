import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { KUBERNETES_FOLDER } from '@carillon/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scratch } from '../integration/product/shop.ts';
import { describeWith, PROGRAMS } from '../support/requirements.ts';

const run = promisify(execFile);
const KUBECONFORM = 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0';
/** A package that carries the schemas which Kubernetes publishes, of ten versions. */
const SCHEMAS = 'kubernetes-validate==1.37.0';
const VERSIONS = ['1.30.0', '1.34.0', '1.37.0'] as const;

describeWith(['go', 'pip'], 'The manifests of deploy/kubernetes, held against the published schemas', () => {
  let folder: string;
  let remove: () => Promise<void>;
  const schemas = (version: string): string => join(folder, 'schemas', version);

  beforeAll(async () => {
    ({ folder, remove } = await scratch());
    const env = { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath -modcacherw', GOWORK: 'off' };
    await run(PROGRAMS.go.path, ['install', KUBECONFORM], { env });
    const taken = ['--no-deps', '--no-compile', '--quiet', '--target', join(folder, 'package')];
    await run(PROGRAMS.pip.path, ['install', ...taken, SCHEMAS]);
    for (const version of VERSIONS) await copySchemas(version);
  }, 900_000);
  afterAll(() => remove());

  /** The package names its schemas by addresses; kubeconform reads them from files, each beside the others. */
  async function copySchemas(version: string): Promise<void> {
    const from = join(folder, 'package/kubernetes_validate/kubernetes-json-schema', `v${version}-local-strict`);
    await mkdir(schemas(version), { recursive: true });
    for (const file of await readdir(from)) {
      const text = (await readFile(join(from, file), 'utf8')).replaceAll(
        '"/api/_definitions.json#',
        '"_definitions.json#',
      );
      const { $id: _address, ...schema } = JSON.parse(text) as Readonly<Record<string, unknown>>;
      await writeFile(join(schemas(version), file), JSON.stringify(schema));
    }
  }

  async function verdicts(version: string, path: string): Promise<readonly string[]> {
    const location = join(schemas(version), '{{.ResourceKind}}{{.KindSuffix}}.json');
    const told = ['-strict', '-verbose', '-skip', 'Kustomization', '-schema-location', location, path];
    const { stdout } = await run(join(folder, 'kubeconform'), told).catch((error: { stdout: string }) => error);
    return stdout.split('\n').filter((line) => line !== '' && !line.endsWith(' skipped'));
  }

  it.each(VERSIONS)('are valid for Kubernetes %s', async (version) => {
    const said = await verdicts(version, KUBERNETES_FOLDER);
    expect(said.length).toBeGreaterThan(15);
    expect(said.filter((line) => !line.endsWith(' is valid'))).toEqual([]);
  });

  it('would not be with a field that does not exist', async () => {
    const wrong = join(folder, 'wrong.yaml');
    const text = await readFile(join(KUBERNETES_FOLDER, 'engine.yaml'), 'utf8');
    await writeFile(wrong, text.replace('failureThreshold: 60', 'failureTreshold: 60'));
    expect((await verdicts('1.34.0', wrong)).join('\n')).toContain("'failureTreshold' not allowed");
  });
});
