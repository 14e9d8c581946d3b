const ROOT = "OMP_PROJECT_DIR";
const FOLDER = /^(.+)[\\/]\.omp[\\/]extensions$/;
const STOP = "session_stop"; // what a hook that keeps the agent going runs on
const HANDLED = { handled: true };

const transform = (event, text) => ({ text, images: event.images });

// The host takes another input as an answer, and does not look at the event's own.
const change = (event, input) => {
  if (input !== null && typeof input === "object" && !Array.isArray(input)) event.input = input;
};

const changed = (seen, event) => (seen.input === event.input ? undefined : { input: seen.input });
