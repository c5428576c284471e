"""For PETSc's configure: copied to config/BuildSystem/config/packages in PETSc's sources, it gives --download-vpatchdg. vpatchdg is a plugin: it is
built after PETSc and with it, into the same folders; programs load it by -dll_append ${PETSC_DIR}/${PETSC_ARCH}/lib/libvpatchdg.so, or link it."""
import config.package


class Configure(config.package.Package):
    def __init__(self, framework):
        config.package.Package.__init__(self, framework)
        self.version         = '0.3.0'
        self.gitcommit       = 'v' + self.version
        # it has no home on the web yet: --download-vpatchdg=/path/to/vpatchdg-0.3.0.tar.gz, or git:///path/to/a/checkout
        self.download        = ['vpatchdg-' + self.version + '.tar.gz']
        self.functions       = []
        self.includes        = []
        self.complex         = 0
        self.precisions      = ['double']
        self.linkedbypetsc   = 0
        self.builtafterpetsc = 1
        self.skippackagewithoptions = 1
        self.useddirectly    = 0
        self.providesDocs    = 1
        self.docsDirs        = ['src', 'include']  # where the manual pages are

    def setupDependencies(self, framework):
        config.package.Package.setupDependencies(self, framework)
        self.sharedLibraries = framework.require('PETSc.options.sharedLibraries', self)
        self.mpi   = framework.require('config.packages.MPI', self)
        self.p4est = framework.require('config.packages.p4est', self)
        self.cuda  = framework.require('config.packages.CUDA', self)
        self.deps  = [self.mpi, self.p4est]
        self.odeps = [self.cuda]

    def Install(self):
        import os
        if not self.checkSharedLibrariesEnabled():
            raise RuntimeError('vpatchdg built by the configure of PETSc is loaded as a shared library: --with-shared-libraries')
        if self.argDB['prefix'] and 'package-prefix-hash' not in self.argDB:
            prefix = os.path.abspath(os.path.expanduser(self.argDB['prefix']))
            petsc = 'PETSC_DIR=' + prefix + ' PETSC_ARCH='
        else:
            prefix = os.path.join(self.petscdir.dir, self.arch)
            petsc = 'PETSC_DIR=${PETSC_DIR} PETSC_ARCH=${PETSC_ARCH}'
        self.include = [os.path.join(prefix, 'include')]
        self.lib = [os.path.join(prefix, 'lib', 'libvpatchdg.' + self.setCompilers.sharedLibraryExt)]
        p4est = '' if not self.p4est.directory else ' P4EST_DIR=' + self.p4est.directory
        make = '${OMAKE} ' + petsc + p4est + ' CUDA=' + ('1' if self.cuda.found else '0') + ' CC="' + self.getCompiler() + '" prefix=' + prefix
        self.addPost(self.packageDir, [make + ' install'])
        return self.installDir
