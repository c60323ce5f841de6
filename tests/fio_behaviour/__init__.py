"""Whether what the simulated host asks for is what a fio job file says.

The job file is read here a second time, from fio's own documentation (HOWTO.rst) and none of the
package's modules; then a short run's requests are compared with it.

- `values`, `jobfile`: the text of a job file.
- `asked`: what each job, and each clone of ``numjobs``, asks for.
- `shortened`: the same job file with times of milliseconds.
- `issued`: the requests of a run of the command line.
- `what`, `where`, `when`: the comparison; each rule returns sentences about what differs.
- `folders`: figures for folders of public job files: ``python -m fio_behaviour FOLDER...``.
"""
