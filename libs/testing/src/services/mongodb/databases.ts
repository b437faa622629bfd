import { MongoClient } from 'mongodb';

async function using<Result>(url: string, work: (client: MongoClient) => Promise<Result>): Promise<Result> {
  const client = new MongoClient(url);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** Removes a database with all that is in it; one that is not there is no mistake. */
export const dropDatabase = (url: string, name: string): Promise<void> =>
  using(url, async (client) => {
    await client.db(name).dropDatabase();
  });

/** Everything that a database holds, as one text: for tests of what must not be in it. */
export const textOfDatabase = (url: string, name: string): Promise<string> =>
  using(url, async (client) => {
    const collections = await client.db(name).collections();
    const documents = await Promise.all(collections.map((each) => each.find().toArray()));
    return JSON.stringify(documents);
  });
