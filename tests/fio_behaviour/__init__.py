"""Whether what the simulated host asks for is what a fio job file says.

The job file is read here a second time, from fio's own documentation (HOWTO.rst) and none of the
package's modules; then a short run's requests are compared with it.

- `values`, `jobfile`: the text of a job file.
- `asked`: what each job, and each clone of ``numjobs``, asks for.
- `shortened`: the same job file with times of milliseconds.
- `issued`: the requests of a run.
- `drawn`, `drive`: job files drawn at random, and what they run on.
- `what`, `where`, `when`: rules, each of which tells what differs; `comparison` has all of them.
- `folders`: figures for folders of public job files: ``python -m
  fio_behaviour.folders FOLDER...``.
"""
