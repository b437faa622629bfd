import { describe, expect, test } from 'vitest';
import { closure, debianArchitecture, mirrorIn, parseDependencies } from '../../src/services/cache/debian.ts';
import { majorOfJava } from '../../src/services/cache/tools.ts';
import { minorOfGo } from '../../src/services/mongodb/ferretdb-release.ts';

describe('packages of Debian', () => {
  test('come from the mirror that the machine uses', () => {
    const one = 'deb [signed-by=/k.gpg] https://mirror.test/debian/ bookworm main\n';
    const deb822 = 'Types: deb\nURIs: http://near.test/debian\nSuites: trixie\n';
    expect(mirrorIn([one])).toBe('https://mirror.test/debian/');
    expect(mirrorIn(['# deb http://old.test/debian x main\ndeb https://vendor.test/apt stable main\n', deb822])).toBe(
      'http://near.test/debian',
    );
    expect(mirrorIn([])).toBe('http://deb.debian.org/debian');
  });

  test('include dependencies as far as needed', () => {
    const dependencies = parseDependencies(`server
  Depends: libfirst
 |Depends: either
  Depends: or
  PreDepends: libc
  Depends: heavy
libfirst
  Depends: <virtual>
    provider
heavy
  Depends: only-for-heavy
either
or
`);
    expect(closure(['server'], dependencies, /^heavy/)).toEqual(['either', 'libc', 'libfirst', 'server']);
    expect(closure(['server'], dependencies, /^$/)).toContain('only-for-heavy');
  });

  test('exist for two architectures', () => {
    expect(debianArchitecture('x64').name).toBe('amd64');
    expect(debianArchitecture('arm64').name).toBe('arm64');
    expect(() => debianArchitecture('mips')).toThrow('mips');
  });
});

test('versions of Java and Go are read from their output', () => {
  expect(majorOfJava('openjdk version "17.0.15" 2025-04-15')).toBe(17);
  expect(majorOfJava('openjdk version "21" 2023-09-19')).toBe(21);
  expect(majorOfJava('java version "1.8.0_392"')).toBe(8);
  expect(majorOfJava('')).toBe(0);
  expect(minorOfGo('go version go1.26.8 linux/amd64')).toBe(26);
  expect(minorOfGo('go version devel')).toBe(0);
});
