import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dropDatabase, forgetTopics, textOfDatabase } from '@carillon/testing/services';
import { describe } from 'vitest';
import { describeWith } from '../support/requirements.ts';
import { sharedServer, takeTurn } from '../support/shared-servers.ts';

/*
 * Where a chapter takes place. Each is read once and run on one file, as `npm start` does, and on Kafka, MongoDB
 * and a schema registry. The commands are the same, and so are the files of the configuration.
 */

export type Place = 'embedded' | 'cluster';

/** An empty place for one chapter: a folder, and on a cluster servers that hold nothing of an earlier chapter. */
export type Home = {
  readonly place: Place;
  readonly folder: string;
  /** Settings that every command in it gets. The embedded backend needs none. */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * The number of the demo's configuration: where its record stands in `carillon.config`, after that of the API key. On
   * Kafka the first record is the name of the log.
   */
  readonly demoNumber: number;
  /** The product serves here already, for the owner whose token the settings have. Left out: a chapter starts it. */
  readonly serving?: { readonly control: string; readonly events: string };
  /** Everything that is stored in it, as text. */
  stored(): Promise<string>;
  /** Takes it away, with all that is in it. */
  leave(): Promise<void>;
};

/**
 * Chapters that take place on a cluster each time: one over the log and what is configured, one over what waits in the
 * ledger. Chapter 14 starts roles of its own there. All others take place there in `all-on-a-cluster.proof.test.ts`.
 */
const OFTEN_ON_CLUSTER: readonly number[] = [3, 6];
const isOftenOnCluster = (name: string): boolean => OFTEN_ON_CLUSTER.includes(Number.parseInt(name, 10));
const placesOf = {
  often: (name: string): readonly Place[] => (isOftenOnCluster(name) ? ['embedded', 'cluster'] : ['embedded']),
  otherwise: (name: string): readonly Place[] => (isOftenOnCluster(name) ? [] : ['cluster']),
};
let occasion: keyof typeof placesOf = 'often';
let elsewhere: Declare | null = null;
/** The chapters that are declared from now on are the others, on a cluster. */
export function otherChaptersOnCluster(): void {
  occasion = 'otherwise';
}

type Body = (newHome: () => Promise<Home>, place: Place) => void;
type Declare = (name: string, body: Body) => void;
const DECLARE: Readonly<Record<Place, Declare>> = {
  embedded(name, body) {
    describe(`${name}, on one file`, () => {
      body(embeddedHome, 'embedded');
    });
  },
  cluster(name, body) {
    describeWith(['kafka', 'mongodb', 'registry'], `${name}, on a cluster`, () => {
      body(clusterHome, 'cluster');
    });
  },
};

/** Declares a chapter, whose name begins with its number, for the places where it is due. */
export function chapter(name: string, body: Body): void {
  const declared = elsewhere ? [elsewhere] : placesOf[occasion](name).map((place) => DECLARE[place]);
  for (const declare of declared) declare(name, body);
}

/** The chapters that are declared from now on take place there, where that is possible. */
export function chaptersOn(where: string, possible: boolean, newHome: () => Promise<Home>): void {
  elsewhere = (name, body) => {
    describe.skipIf(!possible)(`${name}, on ${where}`, () => {
      body(newHome, 'cluster');
    });
  };
}

const newFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'carillon-walkthrough-'));
const removeFolder = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

/** For what is the same in each place. */
export async function embeddedHome(): Promise<Home> {
  const folder = await newFolder();
  const files = ['carillon.db', 'carillon.db-wal'].map((file) => join(folder, 'carillon-data', file));
  return {
    place: 'embedded',
    folder,
    settings: {},
    demoNumber: 1,
    async stored() {
      const texts = await Promise.all(files.filter((file) => existsSync(file)).map((file) => readFile(file, 'latin1')));
      return texts.join('');
    },
    leave: () => removeFolder(folder),
  };
}

/** On the servers of this run, for as long as no other test has topics there. */
export async function clusterHome(): Promise<Home> {
  const [{ brokers }, { url: mongodb }, { url: registry }] = await Promise.all([
    sharedServer('kafka'),
    sharedServer('mongodb'),
    sharedServer('registry'),
  ]);
  const giveBack = await takeTurn('topics');
  const database = `walkthrough-${randomBytes(6).toString('hex')}`;
  const folder = await newFolder();
  await forgetTopics(brokers, 'carillon.');
  return {
    place: 'cluster',
    folder,
    settings: {
      CARILLON_BROKERS: brokers.join(','),
      CARILLON_SINGLE_BROKER: 'true',
      CARILLON_MONGODB_URL: mongodb,
      CARILLON_MONGODB_DATABASE: database,
      CARILLON_SCHEMA_REGISTRY_URL: registry,
    },
    demoNumber: 2,
    stored: () => textOfDatabase(mongodb, database),
    async leave() {
      giveBack();
      await dropDatabase(mongodb, database);
      await removeFolder(folder);
    },
  };
}
