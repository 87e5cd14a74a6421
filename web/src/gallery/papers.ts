// The papers' printed values next to our measured ones, and the verdicts on the papers' claims. Both
// are built into the page from files that the command line has written: `results/published.json`
// and `results/replication.json`.

import publishedFile from "../../../results/published.json";
import replicationFile from "../../../results/replication.json";

/** A printed value with our measured one: the median over the seeds, and its interval. */
export interface PublishedCell {
  unit: string;
  published: number;
  measured: number | null;
  interval: [number, number] | null;
}

export interface PublishedRow {
  at: Record<string, string | number>;
  seeds: number;
  metrics: Record<string, PublishedCell>;
}

export interface PublishedExperiment {
  id: string;
  title: string;
  /** The paper's tables and figures. */
  source: string[];
  note: string;
  commit: string;
  rows: PublishedRow[];
}

export interface PaperClaim {
  id: string;
  experiment: string;
  statement: string;
  expected: string;
  verdict: string | null;
  measured: { points_true: number; points: number; seeds_true: number; seeds: number };
}

// The compiler would otherwise make a type of every single value.
const published = publishedFile as unknown as { experiments: PublishedExperiment[] };
const replication = replicationFile as unknown as { claims: PaperClaim[] };

const ofPaper = <T extends { id: string }>(all: readonly T[], paper: string): T[] => all.filter((one) => one.id.startsWith(`${paper}.`));

export const publishedOf = (paper: string): PublishedExperiment[] => ofPaper(published.experiments, paper);
export const claimsOf = (paper: string): PaperClaim[] => ofPaper(replication.claims, paper);
